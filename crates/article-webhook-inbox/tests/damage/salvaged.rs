//! Salvages damaged files, and works on the new ones to the end.

use std::{collections::BTreeSet, path::Path, time::SystemTime};

use article_webhook_inbox::{
    Clock, Inbox, IntentState, SqliteSettings, SqliteStore, State,
    store::{Intended, Store},
};

use super::{
    base::{self, BUCKET, Base, Files, REMOVED_BYTES, WITHIN, arrival, article},
    started::work,
};

/// What became of one damage.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What must never happen.
    pub(super) wrong: Vec<String>,
    pub(super) is_whole: bool,
    pub(super) lost: usize,
    pub(super) doubtful: usize,
    pub(super) has_gaps: bool,
}

/// A sound inbox loses nothing.
pub(super) fn undamaged(base: &Base) {
    let outcome = run(base, (&base.files, false));
    assert!(outcome.wrong.is_empty() && outcome.is_whole, "{}: {outcome:#?}", base.name);
}

/// `is_large` if tables and indexes may have lost the same rows: then the salvage says that names may be missing.
pub(super) fn run(base: &Base, (files, is_large): (&Files, bool)) -> Outcome {
    let folder = base::folder();
    let path = files.write(folder.path());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut outcome = Outcome::default();
    if let Err(wrong) = runtime.block_on(salvage(base, &path, (is_large, &mut outcome))) {
        outcome.wrong.push(wrong.to_string());
    }
    if Files::read(&path) != *files {
        outcome.wrong.push("the damaged files were changed".into());
    }
    let names = std::fs::read_dir(folder.path()).expect("the folder can be read");
    let names = names.map(|it| it.expect("an entry").file_name().into_string().expect("text"));
    let is_known =
        |name: &str| name.starts_with("inbox.db") || name == "new.db" || name == "new.db-lock";
    let left = names.filter(|name| !is_known(name)).map(|name| format!("{name} is left"));
    outcome.wrong.extend(left);
    outcome
}

async fn salvage(
    base: &Base,
    path: &Path,
    (is_large, outcome): (bool, &mut Outcome),
) -> Result<(), Box<dyn std::error::Error>> {
    let new = path.with_file_name("new.db");
    let salvaged = SqliteStore::salvage(path, &new)?;
    outcome.is_whole = salvaged.is_whole();
    outcome.lost = salvaged.lost.len();
    outcome.doubtful = usize::try_from(salvaged.doubtful)?;
    outcome.has_gaps = salvaged.ledger_has_gaps;
    let wrong = &mut outcome.wrong;

    let settings = SqliteSettings::default().clock(Clock::stepped(later()));
    let store = SqliteStore::open_with(&new, settings)?;
    let inbox = Inbox::new(store.clone());
    let found = inbox.check().await?.into_iter().map(|it| it.to_string());
    let found = found.filter(|it| !it.contains("is corrupt"));
    wrong.extend(found.map(|it| format!("check: {it}")));
    let mut again = Vec::new();
    let lost: BTreeSet<_> = salvaged.lost.iter().map(ToString::to_string).collect();
    for (job, sent) in &base.sent {
        let shown = store.show(arrival(job, &sent[0]).key).await?;
        let expected = store.job(job.parse()?).await?;
        let is_expected = expected.is_some_and(|job| job.state.is_open());
        let is_dead = shown.as_ref().is_some_and(|(entry, _)| entry.state == State::Dead);
        let is_kept = shown.is_some_and(|(entry, bodies)| {
            let is_sent = |bytes| sent.contains(bytes);
            let is_there = bodies.iter().any(|body| body.bytes.as_ref().is_some_and(is_sent));
            is_there || (entry.state == State::Done && base.done.contains(job))
        });
        let is_named = lost.contains(job) && (is_expected || is_dead);
        let is_unknown = is_large && salvaged.may_lack_names;
        if !(is_kept || is_named || is_unknown) {
            wrong.push(format!("{job} is lost, and not named, or neither expected nor dead"));
        }
        // What is neither kept nor named is not known to the new inbox at all.
        if is_kept || is_named {
            again.extend(sent.iter().map(|sent| arrival(job, sent)));
        }
    }
    let is_unknown = is_large && salvaged.ledger_has_gaps;
    for job in &base.expected {
        let is_expected = store.job(job.parse()?).await?.is_some_and(|job| job.state.is_open());
        if !(is_expected || is_unknown) {
            wrong.push(format!("{job} is expected no more"));
        }
    }

    // Everything comes once more: deliveries, and answers of the API for what is expected.
    let removed = base.removed.iter().filter(|_| !is_unknown);
    again.extend(removed.map(|job| arrival(job, &article(job, REMOVED_BYTES))));
    for arrival in again {
        store.record(arrival).await?;
    }
    let mut handled = BTreeSet::new();
    let (calls, ended) = work(&inbox).await;
    ended?;
    for (job, body) in calls {
        if base.done.contains(&job) || base.removed.contains(&job) {
            wrong.push(format!("{job} was done, and is handled again"));
        }
        if base.sent.get(&job).is_none_or(|sent| !sent.contains(&body)) {
            wrong.push(format!("{job} is handled with another body"));
        }
        if !handled.insert(job.clone()) {
            wrong.push(format!("{job} is handled twice"));
        }
    }
    for intent in &base.intents {
        match store.intend(intent, WITHIN, BUCKET.key, None).await? {
            Intended::Known(known) if known.state != IntentState::Ordering => {}
            other => wrong.push(format!("{intent} is ordered again: {other:?}")),
        }
    }
    let counts = store.counts().await?;
    if counts.of(State::Waiting) + counts.of(State::Leased) > 0 {
        wrong.push("something waits for ever".into());
    }
    store.close().await?;
    Ok(())
}

/// The time of a start at which every deadline of an order has passed, and every wait.
fn later() -> SystemTime {
    SystemTime::now() + 2 * 60 * WITHIN
}
