//! Salvages damaged files, and works on the new ones to the end.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use article_webhook_inbox::{
    Clock, Inbox, IntentState, SqliteSettings, SqliteStore, State,
    store::{Intended, Store},
};

use super::base::{self, Base, Files, KEY, WITHIN, arrival};

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

/// `is_large` if tables and indexes may have lost the same rows: then the salvage says that names may be missing.
pub(super) fn run(base: &Base, files: &Files, (is_large, is_kept): (bool, bool)) -> Outcome {
    let mut folder = base::folder();
    folder.disable_cleanup(is_kept);
    if is_kept {
        println!("the files are in {}", folder.path().display());
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut outcome = Outcome::default();
    let path = folder.path().join("inbox.db");
    files.write(&path);
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
    outcome
        .wrong
        .extend(names.filter(|name| !is_known(name)).map(|name| format!("{name} is left")));
    outcome
}

async fn salvage(
    base: &Base,
    path: &std::path::Path,
    (is_large, outcome): (bool, &mut Outcome),
) -> Result<(), Box<dyn std::error::Error>> {
    let new = path.with_file_name("new.db");
    let salvaged = SqliteStore::salvage(path, &new)?;
    outcome.is_whole = salvaged.is_whole();
    outcome.lost = salvaged.lost.len();
    outcome.doubtful = usize::try_from(salvaged.doubtful)?;
    outcome.has_gaps = salvaged.ledger_has_gaps;
    let wrong = &mut outcome.wrong;

    let settings = SqliteSettings::default().clock(Clock::stepped(base::later()));
    let store = SqliteStore::open_with(&new, settings)?;
    let inbox = Inbox::new(store.clone());
    let found = inbox.check().await?;
    wrong.extend(
        found
            .iter()
            .filter(|it| !it.to_string().contains("is corrupt"))
            .map(|it| format!("check: {it}")),
    );
    let mut again = Vec::new();
    let lost: BTreeSet<_> = salvaged.lost.iter().map(ToString::to_string).collect();
    for (job, sent) in &base.sent {
        let shown = store.show(arrival(job, sent.clone()).key).await?;
        let expected = store.job(job.parse()?).await?;
        let is_expected = expected.is_some_and(|job| job.state.is_open());
        let is_kept = shown.is_some_and(|(entry, bodies)| {
            let is_there = bodies.iter().any(|body| body.bytes.as_ref() == Some(sent));
            is_there || (entry.state == State::Done && base.done.contains(job))
        });
        let is_named = lost.contains(job) && is_expected;
        let is_unknown = is_large && salvaged.may_lack_names;
        if !(is_kept || is_named || is_unknown) {
            wrong.push(format!("{job} is lost, and not named and expected"));
        }
        // What is neither kept nor named is not known to the new inbox at all.
        if is_kept || is_named {
            again.push(arrival(job, sent.clone()));
        }
    }
    for job in &base.expected {
        let is_expected = store.job(job.parse()?).await?.is_some_and(|job| job.state.is_open());
        let is_unknown = is_large && salvaged.ledger_has_gaps;
        if !(is_expected || is_unknown) {
            wrong.push(format!("{job} is expected no more"));
        }
    }

    // Everything comes once more: deliveries, and answers of the API for what is expected.
    for arrival in again {
        store.record(arrival).await?;
    }
    let is_unknown = is_large && salvaged.ledger_has_gaps;
    for job in base.removed.iter().filter(|_| !is_unknown) {
        store.record(arrival(job, base::article(job, base::REMOVED_BYTES))).await?;
    }
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let worker = inbox.worker(move |job| {
        seen.lock()
            .expect("no handler panics")
            .push((job.job_id().to_string(), job.body().to_vec()));
        async { Ok(()) }
    });
    worker.run_until_idle().await?;
    let calls = std::mem::take(&mut *calls.lock().expect("no handler panics"));
    let mut handled = BTreeSet::new();
    for (job, body) in &calls {
        if base.done.contains(job) || base.removed.contains(job) {
            wrong.push(format!("{job} was done, and is handled again"));
        }
        if !handled.insert(job) {
            wrong.push(format!("{job} is handled twice"));
        }
        if base.sent.get(job).is_none_or(|sent| sent != body) {
            wrong.push(format!("{job} is handled with another body"));
        }
    }
    for intent in &base.intents {
        match store.intend(intent, WITHIN, KEY, None).await? {
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
