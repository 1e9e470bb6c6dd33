use std::time::SystemTime;

use article_webhook_inbox::{
    Error, Filter, JobFilter, JobState, ListOrder, Reason, State as Entries,
};
use axum::{extract::State, response::Response};

use super::answer::{Page, page};
use crate::page::{
    shared::Shared,
    view::{self, Refused},
};

/// How many entries of the quarantine are shown, and how many expected jobs are looked at.
const ENTRIES: u32 = 50;
const JOBS: u32 = 500;

pub(super) async fn list(State(shared): Page) -> Response {
    let refused = read(&shared).await;
    page(refused.map(|refused| view::refused_deliveries(&shared, &refused)), &shared)
}

async fn read(shared: &Shared) -> Result<Refused, Error> {
    let quarantine = Filter {
        state: Some(Entries::Quarantined),
        order: ListOrder::NewestFirst,
        limit: ENTRIES,
        ..Filter::default()
    };
    let expected =
        JobFilter { state: Some(JobState::Expected), limit: JOBS, ..JobFilter::default() };
    let mut jobs = shared.inbox.jobs(expected).await?.items;
    jobs.retain(|job| matches!(job.reason, Reason::Refused { .. }));
    Ok(Refused {
        here: shared.refusals.as_ref().map(|refusals| refusals.all()),
        quarantine: shared.inbox.list(quarantine).await?.entries,
        jobs,
        now: SystemTime::now(),
    })
}
