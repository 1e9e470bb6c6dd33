//! The entries of one page are changed, beside the other processes that write to the inbox.

use std::{collections::HashMap, time::Duration};

use article_webhook_inbox::{Entry, Error, Inbox};
use tokio::{task::JoinSet, time::sleep};

use super::action::{Applied, Change};

/// How often a call is made while the inbox cannot take it. Each waits up to two seconds for other writers.
const ATTEMPTS: u32 = 3;

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes the calls of a page together, so that they share commits, and passes on what became of each.
pub(super) async fn change_batch(
    change: &Change,
    page: Vec<Entry>,
    inbox: &Inbox,
    mut note: impl FnMut(Applied),
) -> Result<(), Error> {
    let mut waiting = calls(change, page);
    for attempt in 1.. {
        let mut running: JoinSet<_> = waiting
            .drain(..)
            .map(|(entry, stands_for)| {
                let (change, inbox) = (change.clone(), inbox.clone());
                async move { (change.apply(inbox, entry.clone()).await, entry, stands_for) }
            })
            .collect();
        let mut failed = None;
        while let Some(call) = running.join_next().await {
            match call.expect("a call of a store does not panic") {
                // What an attempt has forgotten although it failed is not there for the next one.
                (Ok(Applied::Changed(0)), _, stands_for) if attempt > 1 => {
                    note(Applied::Changed(stands_for));
                }
                (Ok(applied), ..) => note(applied),
                (Err(error), entry, stands_for) => {
                    waiting.push((entry, stands_for));
                    failed = Some(error);
                }
            }
        }
        match failed {
            None => break,
            Some(error) if attempt == ATTEMPTS || !error.is_transient() => return Err(error),
            Some(_) => sleep(PAUSE).await,
        }
    }
    Ok(())
}

/// The entries to call for, and for how many of the page each stands: a job is forgotten with all its entries.
fn calls(change: &Change, page: Vec<Entry>) -> Vec<(Entry, u64)> {
    if !matches!(change, Change::Forget) {
        return page.into_iter().map(|entry| (entry, 1)).collect();
    }
    let mut jobs = HashMap::new();
    for entry in page {
        jobs.entry(entry.key.job_id.clone()).or_insert((entry, 0)).1 += 1;
    }
    jobs.into_values().collect()
}
