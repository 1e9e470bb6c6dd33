use std::{sync::Arc, time::SystemTime};

use article_webhook_inbox::{IntentState, JobFilter, JobState};
use axum::extract::State;
use maud::Markup;

use crate::page::{
    shared::Shared,
    view::{
        ledger::{self, Jobs},
        missed::Missed,
    },
};

/// How many of each kind are shown.
const LENGTH: u32 = 50;

pub(super) async fn ledger(State(shared): State<Arc<Shared>>) -> Result<Markup, Missed> {
    let of = async |state| {
        let filter = JobFilter { state: Some(state), limit: LENGTH, ..JobFilter::default() };
        shared.inbox.jobs(filter).await.map(|page| page.items)
    };
    let mut open = of(JobState::Polling).await?;
    open.extend(of(JobState::Expected).await?);
    let mut lost = of(JobState::Failed).await?;
    lost.extend(of(JobState::Unreadable).await?);
    lost.extend(of(JobState::NotFound).await?);
    let ledger = shared.inbox.ledger();
    let unknown = ledger.intents(Some(IntentState::Unknown), 0, LENGTH).await?.items;
    let health = shared.inbox.ledger_health().await?;
    Ok(ledger::ledger(&shared, &Jobs { health, open, lost, unknown, now: SystemTime::now() }))
}
