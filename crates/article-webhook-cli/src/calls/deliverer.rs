//! Delivers over HTTP as the service does.

use std::{error::Error, iter::successors, net::IpAddr, time::Duration};

use article_webhook::fixture::DeliveryRequest;
use clap::Args;
use reqwest::{Client, Response, StatusCode, Url, redirect};

use crate::failure::Failure;

/// How long a receiver may take. The document does not define it.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// What an HTTP client needs of the system.
pub(super) const CERTIFICATES: &str = "install the certificates of public authorities, such as the package ca-certificates; if \
     SSL_CERT_FILE or SSL_CERT_DIR is set, correct it";

/// What is done about a receiver to which no connection is made.
pub(crate) const NOT_REACHED: &str = "start the receiver, or check host and port of the URL";

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);

/// Where a token may go.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RemoteArguments {
    /// Deliver to another machine without TLS, although others can read the token on the way
    #[arg(long)]
    pub(crate) allow_remote: bool,
}

impl RemoteArguments {
    /// Refuses a URL on whose way others could read the token.
    pub(crate) fn allow(self, url: &Url) -> Result<(), Failure> {
        if self.allow_remote || url.scheme() == "https" || is_loopback(url) {
            return Ok(());
        }
        Err(remote())
    }
}

/// The refusal of a URL on whose way others could read the token.
pub(crate) fn remote() -> Failure {
    Failure::usage(
        "the URL's host is not this machine, and without TLS the token can be read on the way",
    )
    .fix("add --allow-remote where that does no harm")
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    bare_host(url)
        .parse()
        .map_or(url.domain() == Some("localhost"), |address: IpAddr| address.is_loopback())
}

/// The host without the brackets of an IPv6 address.
pub(crate) fn bare_host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

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
    /// `timeout`: how long a receiver may take to answer.
    pub(crate) fn new(timeout: Duration) -> Result<Self, Failure> {
        // The service follows no redirect, as far as its document says. A proxy could read the token.
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECTING)
            .timeout(timeout);
        let client = client.build();
        Ok(Self(client.map_err(|error| {
            Failure::failed("the HTTP client cannot be set up").because(&error).fix(CERTIFICATES)
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
        let mut post = self.0.post(url.clone()).body(request.bytes().clone());
        for (name, value) in request.headers() {
            // The client writes the length.
            if !name.eq_ignore_ascii_case("Content-Length") {
                post = post.header(name, value.as_slice());
            }
        }
        post.send().await.map_err(reqwest::Error::without_url)
    }
}

/// The beginning of an answer's body. It may have no end, so that more is not read.
pub(crate) async fn beginning(mut answer: Response, most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < most
        && let Ok(Some(chunk)) = answer.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(most);
    body
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
