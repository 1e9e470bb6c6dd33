use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_client::CallOutcome;
use tokio::time::timeout;

use super::{
    clock::Reading,
    finding::{Finding, Severity},
};
use crate::{calls::client, failure::Failure, settings::Environment, text::moment};

/// A job that no service has.
const NO_JOB: &str = "article-webhook-doctor";

/// How long the service may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Asks the service for a job that does not exist. Nothing is ordered.
pub(super) async fn examine(
    url: Option<&str>,
    key_file: Option<&Path>,
    environment: &Environment,
) -> (Option<Reading>, Finding) {
    ask(url, key_file, environment).await.unwrap_or_else(|finding| (None, finding))
}

async fn ask(
    url: Option<&str>,
    key_file: Option<&Path>,
    environment: &Environment,
) -> Result<(Option<Reading>, Finding), Finding> {
    let from_environment = environment.get("ARTICLE_API_URL");
    let url = url.or(from_environment.as_ref().map(|url| &***url));
    let key = match environment.secret("ARTICLE_API_KEY", "--api-key-file", key_file) {
        Ok(key) => key,
        Err(failure) if key_file.is_some() => {
            return Err(Finding::of_failure("service.key_unreadable", Severity::Fail, &failure));
        }
        Err(_) if url.is_none() => {
            let found = "neither ARTICLE_API_URL nor ARTICLE_API_KEY is set";
            return Err(Finding::not_checked("service.not_named", found).fix(
                "set both to check whether the service accepts the key; a receiver alone needs neither",
            ));
        }
        Err(failure) => {
            return Err(Finding::of_failure("service.key_not_set", Severity::Warn, &failure)
                .because("without a key, nothing can be ordered or collected"));
        }
    };
    let url = url.ok_or_else(|| {
        Finding::warn("service.url_not_set", "ARTICLE_API_URL is not set")
            .because("there is an API key, and no service to use it at")
            .fix("give --api-url URL, or set ARTICLE_API_URL")
    })?;
    let client = client(&key, url)
        .map_err(|failure| Finding::of_failure("service.settings", Severity::Fail, &failure))?;
    let no_job: JobId = NO_JOB.parse().expect("a constant job id is valid");
    let sent = SystemTime::now();
    let asked = timeout(TIMEOUT, client.article_once(&no_job)).await.map_err(|_| {
        unreachable(format!("the service did not answer within {}", moment::span(TIMEOUT)))
    })?;
    let response = asked.map_err(|error| unreachable(Failure::of_service(&error).text()))?;
    let reading = response.sent_at.map(|shown| Reading::new("the service", sent, shown));
    let finding = match &response.outcome {
        CallOutcome::JobNotFound | CallOutcome::Complete(_) | CallOutcome::Unfinished { .. } => {
            let found = "the service accepts the API key";
            return Ok((reading, Finding::ok("service.key_accepted", found)));
        }
        CallOutcome::Unauthorized => Finding::fail("service.key_refused", "the service refuses the API key")
            .fix("give the key that the service issued for this URL"),
        CallOutcome::Forbidden => Finding::fail("service.key_forbidden", "the API key may not read articles")
            .fix("give the key the right to read articles, or use another key; a proxy may answer 403 as well"),
        CallOutcome::NotFound | CallOutcome::Page | CallOutcome::Redirect | CallOutcome::NotJson => {
            Finding::fail("service.wrong_url", "at ARTICLE_API_URL is no API of the service")
                .fix("give the part of the URL before /v1")
        }
        CallOutcome::RateLimited => Finding::warn("service.rate_limited", "the service limits the rate of calls")
            .fix("try again later: whether the key is accepted is not known"),
        CallOutcome::Unavailable => Finding::fail("service.unavailable", "the service cannot answer now")
            .fix("try again later; if others can use it, check ARTICLE_API_URL"),
        _ => Finding::fail("service.unexpected", "the service gives an answer that its document does not have")
            .fix("check ARTICLE_API_URL, and whether the service has a newer document"),
    };
    Ok((reading, finding.because(response.to_string())))
}

fn unreachable(cause: String) -> Finding {
    Finding::fail("service.unreachable", "the service cannot be reached")
        .because(cause)
        .fix("check ARTICLE_API_URL, and whether this machine may connect to it")
}
