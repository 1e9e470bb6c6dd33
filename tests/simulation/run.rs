//! One run, from its seed to what was found.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use article_webhook_inbox::{EntryKey, ExpectedJob, IntentState, JobState, State, store::Store};
use article_webhook_simulator::SimulatedJobState as ServiceState;
use article_webhook_tests::odd_body::OddBody;
use tokio::{runtime::Builder, select, task::JoinSet, time::sleep};

use crate::{
    deliver::{deliver_all, send_unreadable},
    forge::Forged,
    node::run_node,
    observed::Route,
    script::{note_states, order_elsewhere, run_script},
    world::{Account, DAY, Ending, HOUR, Key, MINUTE, World},
};

/// What runs did, for the report.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) crashes: BTreeSet<String>,
    /// The states in which jobs were seen.
    pub(crate) seen: BTreeSet<JobState>,
    pub(crate) pruned: u64,
    /// How many jobs ended in each state.
    pub(crate) states: [u64; JobState::ALL.len()],
    /// How many bodies of articles were sent, and what was odd about them.
    pub(crate) bodies: BTreeMap<(Route, Option<OddBody>), u64>,
    /// How many entries are in quarantine at the end.
    pub(crate) quarantined: u64,
    pub(crate) forged: Forged,
}

impl Report {
    pub(crate) fn add(&mut self, other: Self) {
        self.crashes.extend(other.crashes);
        self.seen.extend(other.seen);
        self.pruned += other.pruned;
        self.quarantined += other.quarantined;
        self.forged.add(other.forged);
        for (kind, count) in other.bodies {
            *self.bodies.entry(kind).or_default() += count;
        }
        for (sum, count) in self.states.iter_mut().zip(other.states) {
            *sum += count;
        }
    }
}

/// Runs a seed on this thread alone.
pub(crate) fn run(seed: u64) -> (Ending, Report) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime starts").block_on(async {
        let world = World::new(seed);
        select! {
            biased;
            () = world.failed.notified() => {}
            () = simulate(&world) => {}
        }
        let counts = world.store.ledger_counts().await.expect("a store in memory counts");
        let entries = world.store.counts().await.expect("a store in memory counts");
        let report = world.with(|inner| {
            let observed = &inner.observed;
            let is_done = |job: &str| observed.jobs.get(job).is_some_and(|seen| seen.done);
            Report {
                crashes: observed.crashes.clone(),
                seen: observed.states.clone(),
                pruned: observed.pruned,
                states: counts.states,
                bodies: observed.bodies.clone(),
                quarantined: entries.of(State::Quarantined),
                forged: observed.forgeries.count(is_done),
            }
        });
        (world.ending(), report)
    })
}

async fn simulate(world: &Arc<World>) {
    world.note(&format!("{:?}", world.plan));
    let mut tasks = JoinSet::new();
    tasks.spawn(deliver_all(Arc::clone(world)));
    let mut nodes: Vec<_> =
        (0..world.plan.nodes).map(|node| tasks.spawn(run_node(Arc::clone(world), node))).collect();
    run_script(Arc::clone(world)).await;
    world.note("nothing goes wrong any more");
    world.with(|inner| inner.faults.have_ended = true);
    if world.plan.key == Key::Another {
        world.restart_all();
    }
    world.changed.notify_waiters();
    // What the API called unreadable again and again is looked at by a person now.
    sleep(10 * MINUTE).await;
    open_unreadable(world).await;
    deliver_unreadable(world).await;
    until_ended(world).await;
    if !world.is_failed() && has_open_jobs(world).await {
        // Each process must know by itself that the key is the right one.
        if let Some(second) = nodes.get_mut(1) {
            second.abort();
            world.nodes()[1] = None;
        }
        until_not_found(world).await;
    }
    if !world.is_failed() {
        check_end(world).await;
        note_states(world).await;
    }
}

async fn jobs(world: &World) -> Vec<ExpectedJob> {
    world.ledger().await.0
}

/// Whether a job is open that is not of the other account, whose jobs no key can bring now, and that can be understood.
async fn has_open_jobs(world: &World) -> bool {
    let jobs = jobs(world).await;
    let mut open = jobs.iter().filter(|job| job.state.is_open()).map(|job| job.job_id.as_str());
    open.any(|id| !world.is_of_other(id) && !is_never_understood(world, id))
}

/// Whether the service has an article of which no copy can be understood.
fn is_never_understood(world: &World, id: &str) -> bool {
    world.state_of(id) == Some(ServiceState::Complete)
        && world.with(|inner| inner.observed.is_never_understood(id))
}

/// Delivers each job once more of which nothing can be understood.
async fn deliver_unreadable(world: &Arc<World>) {
    let mut pushes = world.with(|inner| inner.observed.pushes.clone());
    pushes.sort_by(|one, other| one.job_id().cmp(other.job_id()));
    pushes.dedup_by(|one, other| one.job_id() == other.job_id());
    for push in pushes.iter().filter(|push| is_never_understood(world, push.job_id())) {
        send_unreadable(world, push).await;
    }
}

async fn open_unreadable(world: &World) {
    for job in jobs(world).await {
        let id = job.job_id.as_str();
        let is_undecodable =
            world.with(|inner| inner.observed.is_undecodable(id)) && !world.has_failed(id);
        if job.state == JobState::Unreadable && !is_undecodable {
            let Some(node) = world.any_node() else { return world.fail("no node runs") };
            node.collector.expect(job.job_id).await.map(drop).unwrap_or_default();
        }
    }
}

/// Waits until every job that the service knows has ended, for as long as the arithmetic of the bucket allows.
async fn until_ended(world: &World) {
    let open = u32::try_from(jobs(world).await.len()).expect("few jobs");
    let paused = world.with(|inner| inner.observed.rate.paused_until());
    let start = world.now().max(paused);
    // A job is polled once a day at least. The probe of a refused key comes every five minutes, and an unreadable answer
    // is polled again after an hour.
    let polls = MINUTE * 2 * open / world.plan.per_minute;
    let limit = start + 26 * HOUR + 3 * HOUR + polls;
    // A job whose body never is an article is polled each hour until that is so for 72 hours. A day more, because the
    // clock may have been set back.
    for (jobs, limit) in [(Jobs::Readable, limit), (Jobs::All, limit + 96 * HOUR)] {
        while let Some(why) = unsettled(world, jobs).await {
            if world.is_failed() {
                return;
            }
            if limit <= world.now() {
                return world.fail(&why);
            }
            sleep(HOUR).await;
        }
    }
}

/// Which jobs must have ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Jobs {
    /// Those whose article can be read.
    Readable,
    All,
}

/// A job that the service knows and that has not ended, or is not shown as one that cannot be understood; or an entry that was
/// not handled.
async fn unsettled(world: &World, of: Jobs) -> Option<String> {
    for job in jobs(world).await.into_iter().filter(|job| job.state.is_open()) {
        let id = job.job_id.as_str();
        let is_undecodable = world.with(|inner| inner.observed.is_undecodable(id));
        let is_known = world.state_of(id).is_some() && !world.is_of_other(id);
        let is_settled = match is_never_understood(world, id) {
            true => is_shown(world, &job).await,
            false => of == Jobs::Readable && is_undecodable,
        };
        if is_known && !is_settled {
            return Some(format!("{id} is still {}: {job:?}", job.state));
        }
    }
    let due = world.store.due_since().await.expect("a store in memory knows what is due");
    due.map(|since| format!("an entry waits since {since:?}"))
}

/// A job that the service does not know ends after 72 hours, if the service knows others of the key meanwhile.
async fn until_not_found(world: &World) {
    for _ in 0..12 {
        let Some(node) = world.any_node() else { return world.fail("no node runs") };
        if let Some(undelivered) = order_elsewhere(world, "undelivered") {
            world.with(|inner| {
                inner.observed.undelivered.insert(undelivered.to_string());
                inner.observed.job(undelivered.as_str()).odd = None;
            });
            node.collector.expect(undelivered).await.map(drop).unwrap_or_default();
        }
        sleep(DAY / 2).await;
        if world.is_failed() || !has_open_jobs(world).await {
            break;
        }
    }
    sleep(Duration::from_secs(500)).await;
}

/// What became of each job, against what the service knows.
async fn check_end(world: &World) {
    for job in jobs(world).await {
        let id = job.job_id.as_str();
        let (is_undecodable, is_erased, is_keyed) = world.with(|inner| {
            let is_keyed = inner.observed.keyed.contains(id);
            let is_undecodable = inner.observed.is_undecodable(id);
            (is_undecodable, inner.observed.job(id).erased, is_keyed)
        });
        let is_never_understood = is_never_understood(world, id);
        // A key that knows other jobs, and not this one, ends only a job that no key is known of.
        let is_lost =
            job.state == JobState::NotFound && world.plan.key == Key::Another && !is_keyed;
        // Nor does a key end a job that another key has known, be it by an answer that was wrong.
        let is_other = world.is_of_other(id) || job.key == Some(Account::Other.fingerprint());
        let is_of_other = job.state.is_open() && is_other && world.plan.key == Key::Another;
        let expected: &[JobState] = match world.state_of(id) {
            Some(ServiceState::Failed(_)) => &[JobState::Failed],
            Some(_) if is_undecodable => &[JobState::Unreadable],
            Some(_) if is_never_understood => &[JobState::Expected, JobState::Polling],
            Some(_) => &[JobState::Arrived, JobState::Collected],
            None => world.with(|inner| inner.observed.forgeries.ends(id)),
        };
        if is_erased {
            return world.fail(&format!("{id} was erased, and is back as {}", job.state));
        }
        if !expected.contains(&job.state) && !is_lost && !is_of_other {
            return world
                .fail(&format!("{id} ended as {}, expected {expected:?}: {job:?}", job.state));
        }
        let is_open = job.state.is_open();
        let is_unreadable = world.with(|inner| inner.observed.is_unreadable(id));
        let must_be_shown = (is_never_understood && is_open)
            || (is_unreadable && job.state == JobState::Unreadable);
        if must_be_shown && !is_of_other && !is_shown(world, &job).await {
            return world.fail(&format!("nothing shows that {id} cannot be understood: {job:?}"));
        }
        let (done, failure_done) = world.with(|inner| {
            let seen = inner.observed.job(id);
            (seen.done, seen.failure_done)
        });
        if job.state.has_article() && !done {
            return world
                .fail(&format!("the article of {id} is {}, and no handler has it", job.state));
        }
        let quarantine = EntryKey::article(job.job_id.clone()).quarantine();
        let kept = world.store.show(quarantine).await.expect("a store in memory looks");
        if job.state.has_article() && kept.is_some() {
            return world.fail(&format!("{id} has its article, and is still in quarantine"));
        }
        if job.state == JobState::Failed && !failure_done {
            return world.fail(&format!("it was not reported to the application that {id} failed"));
        }
    }
    for intent in world.ledger().await.1 {
        let job = intent.job_id.as_ref().map(|job| job.as_str());
        let is_refuted = |job| world.with(|inner| inner.observed.forgeries.is_refuted(job));
        if job.is_some_and(is_refuted) {
            return world.fail(&format!("a poll has decided, and the job is forged: {intent:?}"));
        }
    }
    let (taken, answered) =
        world.with(|inner| (inner.observed.taken.clone(), inner.observed.answered_orders.clone()));
    for (id, process) in answered {
        let is_noted = world.with(|inner| inner.observed.noted.contains(&id));
        if !is_noted && !process.has_crashed() {
            return world
                .fail(&format!("{process} saw the answer to the order of {id}, and forgot it"));
        }
    }
    for (id, intent) in taken {
        check_order(world, &id, &intent).await;
    }
}

/// Whether the quarantine has what came of a job that is open. A page that a poll brings is a proxy's and is not kept: then
/// the ledger says what came.
async fn is_shown(world: &World, job: &ExpectedJob) -> bool {
    let id = job.job_id.as_str();
    let (odd, must_be_kept) = world.with(|inner| {
        let seen = inner.observed.job(id);
        (seen.odd, seen.must_be_kept)
    });
    let body = odd.zip(world.finished_article(id)).map(|(odd, article)| odd.body(&article));
    let is_kept = world.is_quarantined(id, &body.unwrap_or_default()).await;
    is_kept || (odd == Some(OddBody::Page) && !must_be_kept && job.cause.is_some())
}

/// Nothing that the service took has vanished.
async fn check_order(world: &World, id: &str, intent: &str) {
    let (erased, accepted, with_intent, done, is_undecodable) = world.with(|inner| {
        let is_undecodable = inner.observed.is_undecodable(id);
        let seen = inner.observed.job(id);
        (seen.erased, seen.accepted, seen.accepted_with_intent, seen.done, is_undecodable)
    });
    let job_id: article_webhook_client::JobId = id.parse().expect("it is an id");
    let row = world.store.job(job_id.clone()).await.expect("a store in memory looks");
    let entry = world.store.show(EntryKey::article(job_id)).await.expect("a store in memory looks");
    if erased {
        if row.is_some() || entry.is_some() {
            world.fail(&format!("{id} was erased, and is back"));
        }
        return;
    }
    if accepted && !done && !is_undecodable {
        return world.fail(&format!("{id} was accepted, and no handler has it"));
    }
    if row.is_some() || !intent.starts_with("post-") {
        return;
    }
    let stored = world.store.intent(intent).await.expect("a store in memory looks");
    let of_the_intent = stored.as_ref().and_then(|stored| stored.job_id.as_ref());
    let is_known = entry.is_some() || world.with(|inner| inner.observed.pruned_jobs.contains(id));
    if of_the_intent.is_some_and(|job| job.as_str() == id) && !is_known {
        return world.fail(&format!("{intent} is ordered as {id}, and that job is lost"));
    }
    match stored.map(|stored| stored.state) {
        None => world.fail(&format!("{intent} was ordered as {id}, and is forgotten")),
        Some(state) if with_intent && state != IntentState::Ordered => {
            world.fail(&format!("{intent} was delivered as {id}, and is {state}"));
        }
        Some(_) => {}
    }
}
