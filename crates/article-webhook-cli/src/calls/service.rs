use std::{error::Error, path::PathBuf};

use article_webhook_client::{ApiKey, Client};
use clap::Args;
use serde_json::json;

use super::{WebUrl, deliverer::CERTIFICATES};
use crate::{
    failure::{Exit, Failure},
    output::Output,
    settings::Environment,
};

/// Where the service is, and the key for it.
#[derive(Debug, Args)]
pub(crate) struct ServiceArguments {
    /// The part of the service's URLs before /v1 [default: the value of ARTICLE_API_URL]
    #[arg(long, value_name = "URL")]
    api_url: Option<WebUrl>,
    /// A file with the API key [default: the key in ARTICLE_API_KEY]
    #[arg(long, value_name = "PATH")]
    api_key_file: Option<PathBuf>,
}

impl ServiceArguments {
    /// `None`: the environment has not both, and no option asks for it.
    pub(crate) fn client_if_set(
        &self,
        environment: &Environment,
    ) -> Result<Option<Client>, Failure> {
        let is_asked = self.api_url.is_some() || self.api_key_file.is_some();
        let is_set = |name| environment.get(name).is_some();
        match is_asked || (is_set("ARTICLE_API_URL") && is_set("ARTICLE_API_KEY")) {
            true => self.client(environment).map(Some),
            false => Ok(None),
        }
    }

    pub(crate) fn client(&self, environment: &Environment) -> Result<Client, Failure> {
        let of_environment = environment.get("ARTICLE_API_URL");
        let of_environment = of_environment.as_ref().map(|url| url.as_str());
        let url =
            self.api_url.as_ref().map(WebUrl::as_str).or(of_environment).ok_or_else(|| {
                Failure::usage("the URL of the service is not known")
                    .fix("give --api-url URL, or set ARTICLE_API_URL")
            })?;
        let key = environment.secret(
            "ARTICLE_API_KEY",
            "--api-key-file",
            self.api_key_file.as_deref(),
        )?;
        client(&key, url)
    }
}

/// A client of the service.
pub(crate) fn client(key: &str, url: &str) -> Result<Client, Failure> {
    let key = ApiKey::new(key).map_err(|error| {
        Failure::of_setting(&error.to_string(), "give the key that the service issued")
    })?;
    let client = Client::builder(key, url)
        .user_agent(concat!("article-webhook/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| match error.source() {
        // It is not the URL: the HTTP client itself cannot be set up.
        Some(_) => Failure::failed(error.to_string()).because(&error).fix(CERTIFICATES),
        None => Failure::usage(error.to_string())
            .fix("give --api-url URL, such as https://service.example/api"),
    })
}

/// Shows what the service answered to a call that configures the brand: any JSON, or nothing.
pub(crate) fn configured(
    answer: Result<impl AsRef<[u8]>, article_webhook_client::Error>,
    output: &Output,
) -> Result<Exit, Failure> {
    let answer = answer.map_err(|error| {
        let failure = Failure::of_service(&error);
        match error.is_outcome_unknown() {
            true => failure.fix(
                "look at the service whether it is configured now, and repeat the command if not",
            ),
            false => failure,
        }
    })?;
    match answer.as_ref() {
        b"" => output.either("configured", &json!({}), "configured")?,
        json => output.service_json(json)?,
    }
    Ok(Exit::Done)
}
