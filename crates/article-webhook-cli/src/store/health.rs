//! Whether an inbox is well, and why not.

use std::time::{Duration, SystemTime};

use article_webhook::Event;
use article_webhook_inbox::{
    Counts, EntryKey, Error, Filter, Inbox, LedgerHealth, PauseReason, Since, State,
    UNCLAIMED_AFTER, store::StoreHealth,
};

use super::Access;
use crate::{
    output::Tone::{self, Bad, Busy, Good, Quiet},
    text::{counted, entries, moment},
};

/// How many entries of a kind are looked at.
const MAX_LISTED: u32 = 1000;

/// What an operator needs to know of an inbox.
pub(crate) struct Health {
    pub(crate) counts: Counts,
    pub(crate) ledger: LedgerHealth,
    pub(crate) works: Works,
    /// What reading everything has found, as damage and as settings. `None`: it was not read.
    pub(crate) checked: Option<[Vec<String>; 2]>,
    /// What follows from all that, with what ended badly first.
    pub(crate) facts: Vec<Fact>,
}

/// Whether deliveries are stored and workers keep up. Cheap for any number of entries.
pub(crate) struct Works {
    /// `None`: not tried, because nothing may be changed.
    pub(crate) writable: Option<Result<(), Error>>,
    pub(crate) due_for: Option<Duration>,
    pub(crate) paused_since: Option<Since>,
    /// What the store knows of itself. Some of it is known in the process of the receiver alone.
    pub(crate) store: StoreHealth,
}

/// Something that is well, or not: [bad](Tone::Bad) is what a person must act on.
pub(crate) struct Fact {
    /// The group of `doctor`, a dot, and a name. It stays the same from version to version.
    pub(crate) code: &'static str,
    pub(crate) tone: Tone,
    /// It is not escaped.
    pub(crate) text: String,
    /// `None`: nothing is to be done, or the text says it.
    pub(crate) fix: Option<&'static str>,
}

impl Fact {
    fn new(code: &'static str, tone: Tone, text: impl Into<String>) -> Self {
        Self { code, tone, text: text.into(), fix: None }
    }

    fn fix(self, fix: &'static str) -> Self {
        Self { fix: Some(fix), ..self }
    }

    /// The name in its code, in words.
    pub(crate) fn name(&self) -> String {
        self.code.trim_start_matches("inbox.").replace('_', " ")
    }
}

impl Health {
    /// Looks at an inbox, beside those who work on it. `checked` is what was found in everything that is stored.
    pub(crate) async fn of(
        inbox: &Inbox,
        access: Access,
        checked: Option<Vec<article_webhook_inbox::Finding>>,
    ) -> Result<Self, Error> {
        let checked = checked.map(|found| {
            let (damage, settings): (Vec<_>, Vec<_>) = found.iter().partition(|it| it.is_damage());
            [damage, settings].map(|found| found.iter().map(ToString::to_string).collect())
        });
        let (counts, ledger) = (inbox.counts().await?, inbox.ledger_health().await?);
        let (works, of_works) = Works::of(inbox, access).await?;
        let mut facts = states(&counts);
        facts.extend(of_works);
        facts.extend(of_ledger(&ledger));
        facts.extend(checked.iter().flat_map(|checked| of_check(checked, &works.store)));
        Ok(Self { counts, ledger, works, checked, facts })
    }

    pub(crate) fn is_well(&self) -> bool {
        self.facts.iter().all(|fact| fact.tone != Tone::Bad)
    }
}

impl Works {
    /// With what follows from it.
    pub(crate) async fn of(inbox: &Inbox, access: Access) -> Result<(Self, Vec<Fact>), Error> {
        let store = inbox.ledger();
        let writable = match access {
            Access::ReadOnly => None,
            Access::Full => Some(inbox.ready().await),
        };
        let (now, due_since) = (store.now(), store.due_since().await?);
        let (paused_since, store) = (store.paused_since().await?, store.health().await?);
        let mut facts = vec![match &writable {
            Some(Ok(())) => Fact::new("inbox.writable", Good, "yes"),
            Some(Err(why)) => {
                let why = format!("no, and each delivery is answered 503, because {why}");
                Fact::new("inbox.writable", Bad, why)
            }
            None => {
                let why = "not tried, because of --read-only or ARTICLE_INBOX_READ_ONLY";
                Fact::new("inbox.writable", Quiet, why)
            }
        }];
        facts.extend(paused_since.as_ref().map(|since| {
            let since = format!("since {}, no worker gets an entry", moment::since(since));
            Fact::new("inbox.paused", Busy, since).fix("article-webhook inbox resume INBOX")
        }));
        facts.extend(match due_since {
            Some(since) => waiting(inbox, since, now, paused_since.as_ref()).await?,
            None => vec![Fact::new("inbox.oldest_due", Good, "nothing waits for a worker")],
        });
        facts.extend(of_store(&store));
        let due_for = due_since.map(|since| now.duration_since(since).unwrap_or_default());
        Ok((Self { writable, due_for, paused_since, store }, facts))
    }
}

/// Whether a worker takes what is due.
async fn waiting(
    inbox: &Inbox,
    since: SystemTime,
    now: SystemTime,
    paused_since: Option<&Since>,
) -> Result<Vec<Fact>, Error> {
    let age = |since| now.duration_since(since).unwrap_or_default();
    if age(since) < UNCLAIMED_AFTER {
        return Ok(vec![Fact::new("inbox.oldest_due", Good, "for less than a minute")]);
    }
    let waits = |since| format!("what is due waits for {}", moment::span(age(since)));
    // Then no worker is missing.
    if paused_since.is_some() {
        let fact = Fact::new("inbox.oldest_due", Bad, waits(since));
        return Ok(vec![fact.fix("article-webhook inbox resume INBOX")]);
    }
    // The oldest of each kind, and not all: there may be millions.
    let oldest = async |state, event| {
        let filter = Filter { state: Some(state), event, limit: MAX_LISTED, ..Filter::default() };
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
    let articles = articles.map(|since| match worked_on.is_empty() {
            false => Fact::new("inbox.slow_worker", Bad, format!("{}, although one runs", waits(since)))
                .fix("raise the `concurrency` of the worker, or look at what its handler waits for"),
            true => Fact::new("inbox.no_worker", Bad, format!("{}, and none is worked on", waits(since)))
                .fix("run `inbox.worker(handler).run(stop)` in the receiver's process, and look into its log for why it ended"),
        });
    // They wait where no worker has a handler for them.
    let failures = failures.map(|since| {
        let text = format!("{}, and no worker works on the failure of a job", waits(since));
        Fact::new("inbox.failures_wait", Bad, text)
            .fix("give a handler with `Worker::on_failure` to the worker in the receiver's process")
    });
    Ok([articles, failures].into_iter().flatten().collect())
}

/// What the store knows of itself.
pub(crate) fn of_store(store: &StoreHealth) -> Vec<Fact> {
    let StoreHealth { blocked, next_start, findings, warnings, .. } = store;
    let blocked = blocked.iter().map(|why| Fact::new("inbox.blocked", Bad, why.to_string()));
    let next_start =
        next_start.iter().map(|why| Fact::new("inbox.next_start", Bad, format!("refused: {why}")));
    let found = findings.iter().map(|found| Fact::new("inbox.found", Bad, found));
    let warnings = warnings.iter().map(|warning| Fact::new("inbox.warning", Busy, warning));
    blocked.chain(next_start).chain(found).chain(warnings).collect()
}

fn of_check([damage, settings]: &[Vec<String>; 2], store: &StoreHealth) -> Vec<Fact> {
    let mut facts: Vec<_> =
        damage.iter().map(|found| Fact::new("inbox.damage", Bad, found)).collect();
    if damage.is_empty() {
        facts.push(Fact::new("inbox.sound", Good, "no damage found"));
    }
    let shown = [&store.findings, &store.warnings];
    let more = settings.iter().filter(|it| !shown.iter().any(|shown| shown.contains(it)));
    facts.extend(more.map(|found| Fact::new("inbox.setting", Busy, found)));
    facts
}

/// What nothing but a person, or a good copy, ends well.
fn states(counts: &Counts) -> Vec<Fact> {
    let fact = |state, code, of: &str| match counts.of(state) {
        0 => None,
        count => Some(Fact::new(code, Bad, entries(count) + of)),
    };
    let dead = fact(State::Dead, "inbox.dead", ", whose handler failed at every attempt");
    let unhandled =
        fact(State::Unhandled, "inbox.unhandled", " without an article that this version reads");
    let quarantined = fact(
        State::Quarantined,
        "inbox.quarantined",
        " of a refused delivery, without a good copy",
    );
    let corrupt =
        fact(State::Corrupt, "inbox.corrupt", " that the disk or another program has changed");
    let facts = [
        dead.map(|it| it.fix("article-webhook inbox list INBOX --state dead; then fix the cause, and: article-webhook inbox requeue INBOX --state dead")),
        unhandled.map(|it| it.fix("article-webhook inbox list INBOX --state unhandled; requeue them for a version that reads them, or discard them")),
        quarantined.map(|it| it.fix("article-webhook inbox list INBOX --state quarantined; then article-webhook collect --inbox INBOX JOB")),
        corrupt.map(|it| it.fix("article-webhook collect --inbox INBOX JOB for each; then check the disk")),
    ];
    facts.into_iter().flatten().collect()
}

fn of_ledger(health: &LedgerHealth) -> Vec<Fact> {
    let mut facts = Vec::new();
    let counts = &health.counts;
    if counts.overdue > 0 {
        let jobs = counted(counts.overdue, "job", "jobs");
        let text = format!("{jobs} neither delivered nor collected for three days");
        facts
            .push(Fact::new("inbox.overdue_jobs", Bad, text).fix(
                "article-webhook inbox jobs INBOX; then article-webhook collect --inbox INBOX JOB for each; ask the service about those that stay",
            ));
    }
    if counts.unknown_intents > 0 {
        let orders = counted(counts.unknown_intents, "order", "orders");
        let text = format!("{orders} without an answer, whose article may have been ordered");
        facts.push(Fact::new("inbox.unknown_orders", Busy, text).fix(
            "look at the service whether the job exists; a delivery to its webhook URL settles it, and `article-webhook order --again` orders it all the same",
        ));
    }
    if let Some(since) = counts.gaps_since {
        let since = moment::shown(since);
        let text = format!(
            "since {since}, after a salvage or a restore, and an order that is not found is not made"
        );
        facts.push(
            Fact::new("inbox.ledger_gaps", Busy, text)
                .fix("compare your orders with the jobs of the service, then: article-webhook inbox orders-checked INBOX"),
        );
    }
    if let Some(pause) = health.paused {
        let until = format!("polls and orders pause until {}", moment::shown(pause.until));
        facts.push(match pause.why {
            PauseReason::KeyRefused { .. } => Fact::new("inbox.key_refused", Bad, until)
                .fix("give the collector the key that the service issued; the pause is of the refused key alone"),
            PauseReason::RateLimited => Fact::new("inbox.rate_limited", Busy, until)
                .fix("wait; if it happens often, lower the rate of the collector"),
            _ => Fact::new("inbox.unavailable", Busy, until).fix("wait; if it does not end, ask the service"),
        });
    }
    facts
}
