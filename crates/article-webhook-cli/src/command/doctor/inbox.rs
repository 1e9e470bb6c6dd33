#[cfg(feature = "postgres")]
mod postgres;

use std::path::Path;

use article_webhook::Event;
use article_webhook_inbox::{
    Counts, EntryKey, Error, Filter, Inbox, LedgerHealth, PauseReason, SqliteLocation, SqliteStore,
    State, UNCLAIMED_AFTER,
};

use super::{
    disk,
    finding::{Finding, Severity},
};
use crate::{
    context::Context,
    failure::Failure,
    store::{At, InboxArgument, blocking, fix_of_missing, shared_file},
    text::{
        command::{self, quoted},
        counted, entries, moment,
    },
};

/// A larger inbox is not read to its end.
const CHECKED_WHOLE: u64 = 64 << 20;

/// How many entries of a kind are looked at.
const LISTED: u32 = 1000;

/// The fix of an error that names none.
const SEE_LOG: &str = "look into the log of the receiver; close other programs that write to the inbox; make room on the disk";

/// The next start of a receiver of a file repairs indexes, and refuses what it cannot repair.
const OF_DAMAGED_FILE: &str = "article-webhook collect --inbox INBOX JOB for each job that is named, once a worker has found its entry \
     corrupt; for all else, stop the receiver and start it again, which builds indexes again, or says what to do";

/// Looks at an inbox beside the receivers that work on it, if there are any.
pub(super) async fn examine(
    inbox: &InboxArgument,
    context: &Context,
) -> Result<Vec<Finding>, Failure> {
    let place = match inbox.place(&context.environment) {
        Ok(place) => place,
        Err(failure) => return Ok(vec![refused(failure)]),
    };
    match &place.at {
        At::File(file) => in_file(file, context).await,
        #[cfg(feature = "postgres")]
        At::Postgres(database) => Ok(postgres::examine(database, &place, context).await),
    }
}

fn refused(failure: Failure) -> Finding {
    const CODE: &str = "inbox.refused";
    let finding = match failure.fix {
        Some(fix) => Finding::fail(CODE, failure.what).fix(fix),
        None => Finding::of_message(CODE, &failure.what, SEE_LOG),
    };
    Finding { cause: failure.cause, ..finding }
}

async fn in_file(file: &Path, context: &Context) -> Result<Vec<Finding>, Failure> {
    let place = match SqliteLocation::inspect(file) {
        Ok(place) => place,
        Err(error) => return Ok(vec![refused(error.into())]),
    };
    let folder = place.path.parent().unwrap_or(&place.path).to_owned();
    let mut findings = blocking(move || disk::examine(&folder)).await?;
    if let Some(why) = place.easily_lost {
        let found = format!("{} {why}", place.path.display());
        let finding = Finding::of_message("disk.easily_lost", &found, SEE_LOG);
        findings.push(Finding { severity: Severity::Warn, ..finding });
    }
    if !place.exists {
        let found = format!("{} does not exist", file.display());
        findings.push(Finding::warn("inbox.missing", found).fix(fix_of_missing(&place.path)));
        return Ok(findings);
    }
    findings.extend(open_to_others(&place));
    let store = match shared_file(&place.path).await {
        Ok(store) => store,
        Err(failure) => {
            findings.push(refused(failure));
            return Ok(findings);
        }
    };
    findings.push(settings(&store).await.unwrap_or_else(|error| refused(error.into())));
    let bytes = place.path.metadata().map_or(0, |file| file.len());
    let name = place.path.display().to_string();
    let opened =
        Opened { inbox: Inbox::new(store), name: &name, bytes, of_damage: OF_DAMAGED_FILE };
    findings.extend(opened.content(context).await);
    Ok(findings)
}

fn open_to_others(place: &SqliteLocation) -> Option<Finding> {
    let first = place.open_to_others.first()?;
    let found = format!("others than the owner have rights on {}", first.display());
    let files = place.open_to_others.iter().map(|file| quoted(&file.display().to_string()));
    let files = files.collect::<Vec<_>>().join(" ");
    let finding = Finding::warn("inbox.open_to_others", found);
    let finding = finding.because("bodies of articles are stored as they came");
    Some(finding.fix(format!("chmod go= {files}; a receiver does it when it starts")))
}

async fn settings(store: &SqliteStore) -> Result<Finding, Error> {
    let settings = store.settings().await?;
    let shown: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let version = SqliteStore::sqlite_version();
    let found = format!("SQLite {version} has the settings of an inbox: {}", shown.join(" "));
    Ok(Finding::ok("inbox.opened", found))
}

/// An inbox that is open.
struct Opened<'a> {
    inbox: Inbox,
    /// As the command line names it.
    name: &'a str,
    /// How large it is.
    bytes: u64,
    /// What is done about damage.
    of_damage: &'static str,
}

impl Opened<'_> {
    /// What an inbox has, wherever it is.
    async fn content(&self, context: &Context) -> Vec<Finding> {
        let inbox = &self.inbox;
        let mut findings = vec![self.writable(context).await];
        for found in [
            self.damage().await,
            waiting(inbox).await,
            inbox.counts().await.map(|counts| states(&counts)),
            inbox.ledger_health().await.map(|health| ledger(&health)),
        ] {
            findings.extend(found.unwrap_or_else(|error| vec![refused(error.into())]));
        }
        findings
    }

    /// What the store knows of itself is known in the process of the receiver alone.
    async fn writable(&self, context: &Context) -> Finding {
        if context.environment.may_change_inbox().is_err() {
            let found = "whether something can be stored, because ARTICLE_INBOX_READ_ONLY is set";
            return Finding::not_checked("inbox.writable", found);
        }
        match self.inbox.ready().await {
            Ok(()) => Finding::ok("inbox.writable", "a small change was committed"),
            Err(error) => Finding::of_message("inbox.not_writable", &error.to_string(), SEE_LOG)
                .because("every delivery is answered 503"),
        }
    }

    async fn damage(&self) -> Result<Vec<Finding>, Error> {
        if self.bytes > CHECKED_WHOLE {
            let found = format!("whether {} MiB are sound, which takes long", self.bytes >> 20);
            let finding = Finding::not_checked("inbox.sound", found);
            return Ok(vec![finding.fix(command::full_status(self.name))]);
        }
        let mut found = self.inbox.check().await?;
        // The settings of the server are checked apart.
        found.retain(article_webhook_inbox::Finding::is_damage);
        if found.is_empty() {
            return Ok(vec![Finding::ok("inbox.sound", "no damage found")]);
        }
        let damage = |found| Finding::fail("inbox.damage", found).fix(self.of_damage);
        Ok(found.iter().map(ToString::to_string).map(damage).collect())
    }
}

/// Whether a worker takes what is due.
async fn waiting(inbox: &Inbox) -> Result<Vec<Finding>, Error> {
    let store = inbox.ledger();
    let now = store.now();
    // Then no worker is missing.
    if let Some(since) = store.paused_since().await? {
        let found = format!("no worker gets an entry since {}", moment::since(&since));
        let paused =
            Finding::warn("inbox.paused", found).because("an operator or a salvage paused them");
        return Ok(vec![paused.fix("article-webhook inbox resume INBOX")]);
    }
    let Some(since) = store.due_since().await? else {
        return Ok(vec![Finding::ok("inbox.nothing_due", "nothing waits for a worker")]);
    };
    let age = |since| now.duration_since(since).unwrap_or_default();
    if age(since) < UNCLAIMED_AFTER {
        let found = "the oldest entry has been due for less than a minute";
        return Ok(vec![Finding::ok("inbox.due", found)]);
    }
    // The oldest of each kind, and not all: there may be millions.
    let oldest = async |state, event| {
        let filter = Filter { state: Some(state), event, limit: LISTED, ..Filter::default() };
        inbox.list(filter).await.map(|page| page.items)
    };
    // The event is the same for all jobs.
    let failure = EntryKey::failure("job".parse().expect("a constant job id is valid")).event;
    let mut due = oldest(State::Waiting, Some(Event::ArticleComplete)).await?;
    due.extend(oldest(State::Waiting, Some(failure)).await?);
    // Last: what a worker claims meanwhile is found here.
    let leased = oldest(State::Leased, None).await?;
    // A lease that has ended is what a worker left that ended.
    let (worked_on, left): (Vec<_>, Vec<_>) = leased.into_iter().partition(|entry| entry.at > now);
    due.extend(left);
    due.retain(|entry| age(entry.at) >= UNCLAIMED_AFTER);
    let due_since = |is_failure| {
        let of_kind = due.iter().filter(|entry| entry.key.is_failure() == is_failure);
        of_kind.map(|entry| entry.at).min()
    };
    let (mut articles, mut failures) = (due_since(false), due_since(true));
    // What is not listed is due as well.
    if ![articles, failures].contains(&Some(since)) {
        articles = Some(since);
    }
    // A worker that works on a failure claims everything.
    if worked_on.iter().any(|entry| entry.key.is_failure()) {
        articles = [articles, failures.take()].into_iter().flatten().min();
    }
    let articles = articles.map(|since| {
        let found = format!("the oldest entry has been due for {}", moment::span(age(since)));
        match worked_on.is_empty() {
            false => Finding::warn("inbox.slow_worker", found)
                .because("a worker runs, and does not keep up")
                .fix("raise the `concurrency` of the worker, or look at what its handler waits for"),
            true => Finding::fail("inbox.no_worker", format!("{found}, and none is worked on"))
                .because("what is stored is handled by a worker, and none claims it")
                .fix("run `inbox.worker(handler).run(stop)` in the receiver's process, and look into its log for why it ended"),
        }
    });
    // They wait where no worker has a handler for them.
    let failures = failures.map(|since| {
        let found = format!("the failure of a job has been due for {}", moment::span(age(since)));
        Finding::warn("inbox.failures_wait", found)
            .because(
                "failures wait for a worker that has a handler for them, and none works on any",
            )
            .fix("give a handler with `Worker::on_failure` to the worker in the receiver's process")
    });
    Ok([articles, failures].into_iter().flatten().collect())
}

fn states(counts: &Counts) -> Vec<Finding> {
    let mut findings = vec![Finding::ok("inbox.entries", entries(counts.total()))];
    let mut note = |state: State, finding: fn(String) -> Finding| match counts.of(state) {
        0 => {}
        count => {
            let are = counted(count, "entry is", "entries are");
            findings.push(finding(format!("{are} {}", state.as_str())));
        }
    };
    note(State::Dead, |found| {
        Finding::warn("inbox.dead", found).because("their handler failed at every attempt").fix(
            "article-webhook inbox list INBOX --state dead; then fix the cause, and: article-webhook inbox requeue INBOX --state dead",
        )
    });
    note(State::Unhandled, |found| {
        Finding::warn("inbox.unhandled", found)
            .because("no body of theirs is an article that this version reads")
            .fix("article-webhook inbox list INBOX --state unhandled; requeue them for a version that reads them, or discard them")
    });
    note(State::Quarantined, |found| {
        Finding::warn("inbox.quarantined", found)
            .because("their deliveries were refused, and no good copy has come yet")
            .fix("article-webhook inbox list INBOX --state quarantined; then article-webhook collect --inbox INBOX JOB")
    });
    note(State::Corrupt, |found| {
        Finding::fail("inbox.corrupt", found)
            .because("the disk or another program changed what was stored")
            .fix("article-webhook collect --inbox INBOX JOB for each; then check the disk")
    });
    findings
}

fn ledger(health: &LedgerHealth) -> Vec<Finding> {
    let mut findings = Vec::new();
    let counts = &health.counts;
    if counts.overdue > 0 {
        let (one, more) = ("job of the ledger is overdue", "jobs of the ledger are overdue");
        findings.push(
            Finding::fail("inbox.overdue_jobs", counted(counts.overdue, one, more))
                .because("they have neither been delivered nor collected for three days")
                .fix("article-webhook collect --inbox INBOX; ask the service about jobs that stay"),
        );
    }
    if counts.unknown_intents > 0 {
        let (one, more) = ("order has an unknown outcome", "orders have an unknown outcome");
        findings.push(
            Finding::warn("inbox.unknown_orders", counted(counts.unknown_intents, one, more))
                .because("the answer to the call was lost: the article may have been ordered")
                .fix("look at the service whether the job exists; a delivery to its webhook URL settles it, and `article-webhook order --again` orders it all the same"),
        );
    }
    if let Some(since) = counts.gaps_since {
        let since = moment::shown(since);
        findings.push(
            Finding::warn("inbox.ledger_gaps", format!("orders may be missing in the ledger since {since}"))
                .because("a salvage or a restore may lack some: an order that is not found is not made")
                .fix("compare your orders with the jobs of the service, then: article-webhook inbox orders-checked INBOX"),
        );
    }
    if let Some(pause) = health.paused {
        let found = format!("polls and orders pause until {}", moment::shown(pause.until));
        findings.push(match pause.why {
            PauseReason::KeyRefused { .. } => Finding::fail("inbox.key_refused", found)
                .because("the service refused the API key")
                .fix("give the collector the key that the service issued; the pause is of the refused key alone"),
            PauseReason::RateLimited => Finding::warn("inbox.rate_limited", found)
                .because("the service limits the rate of calls")
                .fix("wait; if it happens often, lower the rate of the collector"),
            _ => Finding::warn("inbox.unavailable", found)
                .because("the service, or a proxy before it, cannot serve any call now")
                .fix("wait; if it does not end, ask the service"),
        });
    }
    if findings.is_empty() {
        findings.push(Finding::ok("inbox.jobs", "no job of the ledger is overdue"));
    }
    findings
}
