use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use article_inbox::{
    Counts, Entry, Filter, Inbox, LedgerHealth, PauseReason, SqlitePlace, SqliteStore, State,
    store::StoreHealth,
};

use super::{
    disk,
    finding::{Finding, Severity},
};
use crate::{
    context::Context,
    failure::Failure,
    store,
    text::{command, moment},
};

/// A worker claims what is due within seconds.
const UNCLAIMED: Duration = Duration::from_secs(60);

/// A larger file is not read to its end.
const CHECKED_WHOLE: u64 = 64 << 20;

/// The mend of an error that names none.
const SEE_LOG: &str = "look into the log of the receiver; close other programs that write to the file; make room on the disk";

/// Looks at an inbox beside the receiver that works on it, if there is one.
pub(super) async fn examine(file: &Path, context: &Context) -> Result<Vec<Finding>, Failure> {
    if is_postgres(file) {
        return Ok(vec![
            Finding::fail("inbox.no_postgres", "PostgreSQL is not built into this tool")
                .because("it reads inboxes in SQLite files")
                .mend("name the file of an inbox"),
        ]);
    }
    let place = match SqlitePlace::look(file) {
        Ok(place) => place,
        Err(error) => return Ok(vec![refused(error.into())]),
    };
    let folder = place.path.parent().unwrap_or(&place.path).to_owned();
    let mut findings = store::blocking(move || disk::examine(&folder)).await?;
    if !place.exists {
        let found = format!("{} does not exist", file.display());
        findings.push(
            Finding::warn("inbox.missing", found)
                .mend("check the path; the receiver makes the file when it starts"),
        );
        return Ok(findings);
    }
    findings.extend(open_to_others(&place));
    match store::shared_store(&place.path).await {
        Ok(store) => findings.extend(content(store, &place, context).await),
        Err(failure) => findings.push(refused(failure)),
    }
    Ok(findings)
}

fn is_postgres(file: &Path) -> bool {
    file.to_str()
        .is_some_and(|file| file.starts_with("postgres://") || file.starts_with("postgresql://"))
}

fn refused(failure: Failure) -> Finding {
    let finding = Finding::of_message("inbox.refused", Severity::Fail, &failure.what, SEE_LOG);
    match failure.mend {
        Some(mend) => finding.mend(mend),
        None => finding,
    }
}

fn open_to_others(place: &SqlitePlace) -> Option<Finding> {
    let first = place.open_to_others.first()?;
    let found = format!("others than the owner have rights on {}", first.display());
    let mend = format!(
        "chmod go= {0} {0}-wal {0}-shm; a receiver does it when it starts",
        place.path.display()
    );
    Some(
        Finding::warn("inbox.open_to_others", found)
            .because("bodies of articles are stored as they came")
            .mend(mend),
    )
}

async fn content(store: SqliteStore, place: &SqlitePlace, context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    let inbox = Inbox::new(store.clone());
    let mut note = |found: Result<Vec<Finding>, article_inbox::Error>| match found {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(refused(error.into())),
    };
    note(settings(&store).await);
    note(state_of_store(&inbox, context).await);
    note(damage(&inbox, place).await);
    note(waiting(&inbox).await);
    note(inbox.counts().await.map(|counts| entries(&counts)));
    note(inbox.ledger_health().await.map(|health| ledger(&health)));
    findings
}

async fn settings(store: &SqliteStore) -> Result<Vec<Finding>, article_inbox::Error> {
    let settings = store.settings().await?;
    let shown: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let version = SqliteStore::sqlite_version();
    let found = format!("SQLite {version} has the settings of an inbox: {}", shown.join(" "));
    Ok(vec![Finding::ok("inbox.opened", found)])
}

async fn state_of_store(
    inbox: &Inbox,
    context: &Context,
) -> Result<Vec<Finding>, article_inbox::Error> {
    let mut findings = Vec::new();
    if context.environment.may_change_inbox().is_err() {
        let found = "whether something can be stored, because ARTICLE_INBOX_READ_ONLY is set";
        findings.push(Finding::not_checked("inbox.writable", found));
    } else {
        findings.push(match inbox.ready().await {
            Ok(()) => Finding::ok("inbox.writable", "a small change was committed"),
            Err(error) => Finding::of_message(
                "inbox.not_writable",
                Severity::Fail,
                &error.to_string(),
                SEE_LOG,
            )
            .because("every delivery is answered 503"),
        });
    }
    let StoreHealth { blocked, .. } = inbox.ledger().health().await?;
    if let Some(blocked) = blocked {
        findings.push(Finding::of_message("inbox.blocked", Severity::Fail, &blocked, SEE_LOG));
    }
    Ok(findings)
}

async fn damage(inbox: &Inbox, place: &SqlitePlace) -> Result<Vec<Finding>, article_inbox::Error> {
    let bytes = place.path.metadata().map_or(0, |file| file.len());
    if bytes > CHECKED_WHOLE {
        let found = format!("whether {} MiB are sound, which takes long", bytes >> 20);
        let mend = command::check_inbox(&place.path.display().to_string());
        return Ok(vec![Finding::not_checked("inbox.sound", found).mend(mend)]);
    }
    let found = inbox.check().await?;
    if found.is_empty() {
        return Ok(vec![Finding::ok("inbox.sound", "no damage found")]);
    }
    let of_message = |message: &String| {
        Finding::fail("inbox.damage", message.as_str()).mend(
            "restart the receiver, which mends what it can; ask for a corrupt entry anew with `article-webhook collect`",
        )
    };
    Ok(found.iter().map(of_message).collect())
}

/// Whether a worker takes what is due.
async fn waiting(inbox: &Inbox) -> Result<Vec<Finding>, article_inbox::Error> {
    let store = inbox.ledger();
    let now = store.now();
    let Some(since) = store.due_since().await? else {
        return Ok(vec![Finding::ok("inbox.nothing_due", "nothing waits for a worker")]);
    };
    let age = |since| now.duration_since(since).unwrap_or_default();
    if age(since) < UNCLAIMED {
        let found = format!("an entry has been due for {}", moment::span(age(since)));
        return Ok(vec![Finding::ok("inbox.due", found)]);
    }
    let mut live = Live::default();
    for state in [State::Waiting, State::Leased] {
        live.add(inbox, state, now).await?;
    }
    // A worker that works on a failure claims everything. What cannot be listed is due as well.
    let (articles, failures) = match (live.articles, live.failures) {
        (None, None) => (Some(since), None),
        (articles, failures) if live.is_failure_worked_on => {
            ([articles, failures].into_iter().flatten().min(), None)
        }
        oldest => oldest,
    };
    let mut findings = Vec::new();
    if let Some(since) = articles {
        let found = format!("the oldest entry has been due for {}", moment::span(age(since)));
        findings.push(match live.is_worked_on {
            true => Finding::warn("inbox.slow_worker", found)
                .because("a worker runs, and does not keep up")
                .mend("raise the `concurrency` of the worker, or look at what its handler waits for"),
            false => Finding::fail("inbox.no_worker", format!("{found}, and none is worked on"))
                .because("what is stored is handled by a worker, and none claims it")
                .mend("run `inbox.worker(handler).run(stop)` in the receiver's process, and look into its log for why it ended"),
        });
    }
    if let Some(since) = failures {
        let shown = moment::span(age(since));
        findings.push(
            Finding::warn(
                "inbox.failures_wait",
                format!("the failure of a job has been due for {shown}"),
            )
            .because(
                "failures wait for a worker that has a handler for them, and none works on any",
            )
            .mend(
                "give a handler with `Worker::on_failure` to the worker in the receiver's process",
            ),
        );
    }
    Ok(findings)
}

/// The entries that are waiting or leased.
#[derive(Default)]
struct Live {
    /// Since when the oldest is due that should have been claimed.
    articles: Option<SystemTime>,
    /// The same of failures of jobs: they wait where no worker has a handler for them.
    failures: Option<SystemTime>,
    is_worked_on: bool,
    is_failure_worked_on: bool,
}

impl Live {
    async fn add(
        &mut self,
        inbox: &Inbox,
        state: State,
        now: SystemTime,
    ) -> Result<(), article_inbox::Error> {
        let mut filter = Filter { state: Some(state), limit: 500, ..Filter::default() };
        loop {
            let page = inbox.list(filter.clone()).await?;
            page.entries.iter().for_each(|entry| self.note(entry, now));
            match page.next {
                Some(next) => filter.after = next,
                None => return Ok(()),
            }
        }
    }

    fn note(&mut self, entry: &Entry, now: SystemTime) {
        let is_failure = entry.key.is_failure();
        // A lease that has ended is what a worker left that ended.
        if entry.state == State::Leased && entry.at > now {
            self.is_worked_on = true;
            self.is_failure_worked_on |= is_failure;
        } else if now.duration_since(entry.at).is_ok_and(|age| age >= UNCLAIMED) {
            let oldest = if is_failure { &mut self.failures } else { &mut self.articles };
            *oldest = Some(oldest.map_or(entry.at, |oldest| oldest.min(entry.at)));
        }
    }
}

fn entries(counts: &Counts) -> Vec<Finding> {
    let total = counts.total();
    let mut findings = vec![Finding::ok("inbox.entries", format!("{total} entries"))];
    let mut note = |state: State, finding: fn(String) -> Finding| match counts.of(state) {
        0 => {}
        1 => findings.push(finding(format!("1 entry is {}", state.as_str()))),
        count => findings.push(finding(format!("{count} entries are {}", state.as_str()))),
    };
    note(State::Dead, |found| {
        Finding::warn("inbox.dead", found).because("their handler failed at every attempt").mend(
            "article-webhook inbox list FILE --state dead; then mend the cause and `inbox requeue`",
        )
    });
    note(State::Unhandled, |found| {
        Finding::warn("inbox.unhandled", found)
            .because("no body of theirs is an article that this version reads")
            .mend(
                "article-webhook inbox list FILE --state unhandled; a newer version may read them",
            )
    });
    note(State::Corrupt, |found| {
        Finding::fail("inbox.corrupt", found)
            .because("the disk or another program changed what was stored")
            .mend("article-webhook collect --inbox FILE JOB for each; then check the disk")
    });
    findings
}

fn ledger(health: &LedgerHealth) -> Vec<Finding> {
    let mut findings = Vec::new();
    let counts = &health.counts;
    if counts.overdue > 0 {
        findings.push(
            Finding::fail(
                "inbox.overdue_jobs",
                format!("{} ordered jobs are overdue", counts.overdue),
            )
            .because("they have neither been delivered nor collected for three days")
            .mend("article-webhook collect --inbox FILE; ask the service about jobs that stay"),
        );
    }
    if counts.unknown_intents > 0 {
        findings.push(
            Finding::warn("inbox.unknown_orders", format!("{} orders have an unknown outcome", counts.unknown_intents))
                .because("the answer to the call was lost: the article may have been ordered")
                .mend("look at the service whether the job exists; a delivery to its webhook URL settles it"),
        );
    }
    if let Some(pause) = health.paused {
        let until = moment::shown(pause.until);
        findings.push(match pause.why {
            PauseReason::KeyRefused => Finding::fail(
                "inbox.key_refused",
                format!("asks and orders pause until {until}"),
            )
            .because("the service refused the API key")
            .mend("give the collector the key that the service issued; another key ends the pause"),
            PauseReason::RateLimited => {
                Finding::warn("inbox.rate_limited", format!("asks and orders pause until {until}"))
                    .because("the service limits the rate of calls")
                    .mend("wait; if it happens often, lower the rate of the collector")
            }
        });
    }
    if findings.is_empty() {
        findings.push(Finding::ok("inbox.jobs", "no ordered job is overdue"));
    }
    findings
}
