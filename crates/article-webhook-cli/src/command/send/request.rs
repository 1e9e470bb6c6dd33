//! What is sent.

use std::{fs, path::Path, time::SystemTime};

use article_webhook::{
    ArticleResult, JobId,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::EntryKey;

use super::{Fixture, SendArguments};
use crate::{
    command::handed::handed,
    failure::Failure,
    settings::{Environment, input::awaited},
    store::InboxArgument,
    text::{command, escape},
};

/// About how much HTML the large sample has.
const LARGE: usize = 1 << 20;

pub(super) async fn pack(
    arguments: &SendArguments,
    environment: &Environment,
) -> Result<DeliveryRequest, Failure> {
    let SendArguments { file, inbox, job, fixture, .. } = arguments;
    match (file, inbox, job) {
        (Some(file), _, job) => of_file(file, job.as_ref()),
        (None, Some(inbox), Some(job)) => of_entry(inbox, job, environment).await,
        (None, _, job) => Ok(sample(*fixture)
            .job_id(&job.as_ref().map_or_else(new_id, |job| job.as_str().to_owned()))),
    }
}

fn sample(fixture: Fixture) -> DeliveryRequest {
    match fixture {
        Fixture::Complete => fixture::complete(),
        Fixture::Minimal => fixture::minimal(),
        Fixture::Unicode => fixture::unicode(),
        Fixture::ExtraFields => fixture::extra_fields(),
        Fixture::Large => fixture::generated(1, LARGE),
    }
}

/// An id of its own for each call, because a receiver stores each job once.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("send-{:x}", now.as_nanos())
}

fn of_file(path: &Path, job: Option<&JobId>) -> Result<DeliveryRequest, Failure> {
    let body = awaited(|| fs::read(path)).map_err(|error| {
        Failure::usage(format!("{} cannot be read", path.display()))
            .because(&error)
            .fix("name a file that you may read, or leave out --file for a sample")
    })?;
    let of_body = || Some(ArticleResult::from_json(&body).ok()?.job_id);
    let job = job.cloned().or_else(of_body).ok_or_else(|| {
        Failure::usage(format!("{} is not an article result with a job id", path.display()))
            .fix("add --job JOB to send it all the same")
    })?;
    Ok(DeliveryRequest::new(body).header("X-Service-Job-Id", job.as_str()))
}

async fn of_entry(
    inbox: &InboxArgument,
    job: &JobId,
    environment: &Environment,
) -> Result<DeliveryRequest, Failure> {
    let place = inbox.place(environment)?;
    let inbox = place.read().await?;
    let shown = escape::line(job.as_str());
    let key = EntryKey::article(job.clone());
    let (entry, bodies) = inbox.show(key).await?.ok_or_else(|| {
        Failure::nothing_matched(format!("no article of {shown}")).fix(command::list(place.shown()))
    })?;
    let body = handed(&entry, &bodies)?.clone();
    Ok(DeliveryRequest::new(body).header("X-Service-Job-Id", job.as_str()))
}
