use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_client::CallOutcome;
use tokio::time::timeout;

use super::{clock::Reading, finding::Finding};
use crate::{calls::client, failure::Failure, settings::Environment, text::moment};

/// A job that no service has.
const NO_JOB: &str = "article-webhook-doctor";

/// How long the service may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the service for a job that does not exist. Nothing is ordered.
pub(super) async fn examine(
    url: Option<&str>,
    key_file: Option<&Path>,
    environment: &Environment,
) -> (Option<Reading>, Vec<Finding>) {
    let from_environment = environment.get("ARTICLE_API_URL");
    let url = url.or(from_environment.as_ref().map(|url| &***url));
    let key = environment.secret("ARTICLE_API_KEY", "--api-key-file", key_file);
    let (url, key) = match (url, key) {
        (Some(url), Ok(key)) => (url, key),
        (None, Err(_)) if key_file.is_none() => {
            let found = "neither ARTICLE_API_URL nor ARTICLE_API_KEY is set";
            return (None, vec![Finding::not_checked("service.not_named", found).fix(
                "set both to ask the service whether it accepts the key; a receiver alone needs neither",
            )]);
        }
        (_, Err(failure)) => {
            let finding = match key_file {
                Some(_) => Finding::fail("service.key_unreadable", failure.text()),
                None => Finding::warn("service.key_not_set", failure.text())
                    .because("without a key, nothing can be ordered or collected"),
            };
            return (None, vec![finding.fix(failure.fix_text())]);
        }
        (None, Ok(_)) => {
            return (
                None,
                vec![
                    Finding::warn("service.url_not_set", "ARTICLE_API_URL is not set")
                        .because("there is an API key, and no service to use it at")
                        .fix("give --api-url URL, or set ARTICLE_API_URL"),
                ],
            );
        }
    };
    let client = match client(&key, url) {
        Ok(client) => client,
        Err(failure) => {
            let finding = Finding::fail("service.settings", failure.text());
            return (None, vec![finding.fix(failure.fix_text())]);
        }
    };
    let no_job: JobId = NO_JOB.parse().expect("a constant job id is valid");
    let sent = SystemTime::now();
    let asked = match timeout(PATIENCE, client.article_once(&no_job)).await {
        Ok(asked) => asked,
        Err(_) => {
            let found = format!("the service did not answer within {}", moment::span(PATIENCE));
            return (None, vec![unreachable(found)]);
        }
    };
    let response = match asked {
        Ok(response) => response,
        Err(error) => {
            let failure = Failure::of_service(&error);
            return (None, vec![unreachable(failure.text())]);
        }
    };
    let reading = response.sent_at.map(|shown| Reading::new("the service", sent, shown));
    let shown = response.to_string();
    let finding = match &response.outcome {
        CallOutcome::JobNotFound | CallOutcome::Complete(_) | CallOutcome::Unfinished { .. } => {
            Finding::ok("service.key_accepted", "the service accepts the API key")
        }
        CallOutcome::Unauthorized => Finding::fail("service.key_refused", "the service refuses the API key")
            .because(shown)
            .fix("give the key that the service issued for this URL"),
        CallOutcome::Forbidden => Finding::fail("service.key_forbidden", "the API key may not read articles")
            .because(shown)
            .fix("give the key the right to read articles, or use another key; a proxy may answer 403 as well"),
        CallOutcome::NotFound | CallOutcome::Page | CallOutcome::Redirect | CallOutcome::NotJson => {
            Finding::fail("service.wrong_url", "at ARTICLE_API_URL is no API of the service")
                .because(shown)
                .fix("give the part of the URL before /v1")
        }
        CallOutcome::RateLimited => Finding::warn("service.rate_limited", "the service limits the rate of calls")
            .because(shown)
            .fix("try again later: whether the key is accepted is not known"),
        CallOutcome::Unavailable => Finding::fail("service.unavailable", "the service cannot answer now")
            .because(shown)
            .fix("try again later; if others can use it, check ARTICLE_API_URL"),
        _ => Finding::fail("service.unexpected", "the service gives an answer that its document does not have")
            .because(shown)
            .fix("check ARTICLE_API_URL, and whether the service has a newer document"),
    };
    (reading, vec![finding])
}

fn unreachable(cause: String) -> Finding {
    Finding::fail("service.unreachable", "the service cannot be reached")
        .because(cause)
        .fix("check ARTICLE_API_URL, and whether this machine may connect to it")
}
