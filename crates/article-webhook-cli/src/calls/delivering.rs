//! Delivers over HTTP as the service does.

use std::{error::Error, iter::successors, time::Duration};

use article_webhook::fixture::DeliveryRequest;
use reqwest::{Client, Response, StatusCode, Url, redirect};

use crate::failure::Failure;

/// How long a receiver may take. The document does not define it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct Deliverer(Client);

/// Why there is no answer, without the URL, which may hold a secret.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// There is no connection, so the receiver has seen nothing of the delivery.
    Unreachable(String),
    /// The receiver may have seen the delivery.
    Lost(String),
}

impl NoAnswer {
    pub(crate) fn why(&self) -> &str {
        let (Self::Unreachable(why) | Self::Lost(why)) = self;
        why
    }
}

impl Deliverer {
    /// `patience`: how long a receiver may take to answer.
    pub(crate) fn new(patience: Duration) -> Result<Self, Failure> {
        // Has no effect if there is a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // The service follows no redirect, as far as its document says. A proxy could read the token.
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECTING)
            .timeout(patience);
        let client = client.build();
        Ok(Self(client.map_err(|error| {
            Failure::failed("the HTTP client cannot be set up").because(&error)
        })?))
    }

    /// Delivers once.
    pub(crate) async fn deliver(
        &self,
        url: &Url,
        request: &DeliveryRequest,
    ) -> Result<Response, NoAnswer> {
        self.attempt(url, request).await.map_err(|error| {
            let why = root_cause(&error);
            if error.is_connect() { NoAnswer::Unreachable(why) } else { NoAnswer::Lost(why) }
        })
    }

    /// The same, with the error as it is, without the URL.
    pub(crate) async fn attempt(
        &self,
        url: &Url,
        request: &DeliveryRequest,
    ) -> Result<Response, reqwest::Error> {
        let mut post = self.0.post(url.clone()).body(request.body().clone());
        for (name, value) in request.headers() {
            // The client writes the length.
            if !name.eq_ignore_ascii_case("Content-Length") {
                post = post.header(name, value.as_slice());
            }
        }
        post.send().await.map_err(reqwest::Error::without_url)
    }
}

fn root_cause(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |&error| error.source());
    causes.last().unwrap_or(error).to_string()
}

/// What an answer means to the service (service document, section 6.2).
pub(crate) fn meaning(status: StatusCode) -> &'static str {
    match status {
        _ if status.is_success() => "accepted: the service does not deliver this article again",
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "refused: the receiver has another token; the service delivers again after 10, 60 and 300 seconds"
        }
        StatusCode::NOT_FOUND => {
            "no receiver is at this path; the service delivers again after 10, 60 and 300 seconds"
        }
        _ if status.is_redirection() => {
            "not accepted: a redirect is not followed; give the service the final URL"
        }
        _ if status.is_client_error() => {
            "refused: the receiver cannot use this delivery; the service delivers again after 10, 60 and 300 seconds"
        }
        _ => "not stored: the service delivers again after 10, 60 and 300 seconds",
    }
}
