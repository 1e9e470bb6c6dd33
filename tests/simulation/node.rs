use std::{
    fmt,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use article_webhook_collector::Collector;
use article_webhook_inbox::{
    Inbox, JobFilter,
    store::{BucketSettings, Store},
};
use tokio::{
    select,
    sync::Notify,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    api::ApiConnection,
    store::Connection,
    worker::work,
    world::{Account, DAY, HOUR, MINUTE, ORDERS, SECOND, Urls, World, span},
};

/// One process, from its start to its crash. Nothing that it calls after that is carried out.
#[derive(Clone)]
pub(crate) struct Process(Arc<Inner>);

struct Inner {
    node: usize,
    number: u32,
    /// Whose API key it uses.
    account: Account,
    has_crashed: AtomicBool,
    crashed: Notify,
}

impl Process {
    fn new(node: usize, number: u32, account: Account) -> Self {
        let (has_crashed, crashed) = (AtomicBool::new(false), Notify::new());
        Self(Arc::new(Inner { node, number, account, has_crashed, crashed }))
    }

    pub(crate) fn account(&self) -> Account {
        self.0.account
    }

    pub(crate) fn node(&self) -> usize {
        self.0.node
    }

    /// The process crashes here.
    pub(crate) async fn crash(&self, world: &World, name: &str, when: &str) {
        world.note(&format!("{self} crashes {when} {name}"));
        world.with(|inner| inner.observed.crashes.insert(format!("{when} {name}")));
        self.end();
        pending::<()>().await;
    }

    /// The process ends where it is.
    pub(crate) fn end(&self) {
        self.0.has_crashed.store(true, Ordering::Relaxed);
        self.0.crashed.notify_one();
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.0.has_crashed.load(Ordering::Relaxed)
    }

    /// Returns while the process runs.
    pub(crate) async fn while_running(&self) {
        if self.has_crashed() {
            pending::<()>().await;
        }
    }
}

impl PartialEq for Process {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}.{}", self.0.node, self.0.number)
    }
}

/// What a process that runs offers.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) collector: Collector,
    pub(crate) inbox: Inbox,
    pub(crate) store: Connection,
}

/// A machine: it starts its process again whenever that has crashed.
pub(crate) async fn run_node(world: Arc<World>, node: usize) {
    for number in 1.. {
        let now = world.now();
        let account = world.with(|inner| inner.faults.account(now));
        let process = Process::new(node, number, account);
        let running = start(&world, &process);
        world.note(&format!("{process} starts with {account:?}"));
        world.nodes()[node] = Some(running.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(collect(Arc::clone(&world), account, running.collector));
        tasks.spawn(work(Arc::clone(&world), running.store));
        process.0.crashed.notified().await;
        world.nodes()[node] = None;
        drop(tasks);
        let down = world.draw(|rng| span(rng, SECOND, 6 * HOUR));
        sleep_during_faults(&world, down).await;
    }
}

/// Waits for this time, or until nothing goes wrong any more.
async fn sleep_during_faults(world: &World, time: Duration) {
    let end = world.now() + time;
    while world.now() < end && !world.with(|inner| inner.faults.have_ended) {
        let rest = end.saturating_sub(world.now());
        _ = timeout(rest.min(10 * MINUTE), world.changed.notified()).await;
    }
}

fn start(world: &Arc<World>, process: &Process) -> Running {
    let store = Connection::new(world, process);
    let inbox = Inbox::new(store.clone());
    let collector = Collector::builder(&inbox, ApiConnection::new(world, process))
        .rate(world.plan.per_minute, world.plan.burst)
        // Longer than a call: Tokio ends several calls in an order that no seed replays.
        .shutdown_grace(MINUTE);
    let collector = match world.plan.urls {
        Urls::Capability => collector.webhook_urls(world.key.clone(), ORDERS),
        Urls::PublishTarget => collector,
    };
    let collector = collector.build().expect("the settings are valid");
    Running { collector, inbox, store }
}

/// Polls what is due. A run of `Collector::run` over days would look into the store each ten seconds, so it is run for
/// some seconds now and then, and until it is idle at all other times.
async fn collect(world: Arc<World>, account: Account, collector: Collector) {
    loop {
        let for_a_while = world.draw(|rng| (rng.u8(..8) == 0).then(|| span(rng, SECOND, MINUTE)));
        let start = world.now();
        let ended = match for_a_while {
            Some(time) => collector.clone().run(sleep(time)).await,
            None => collector.run_until_idle().await,
        };
        let is_early = for_a_while.is_some_and(|time| world.now() < start + time);
        if is_early || ended.is_err() {
            world.fail(&format!("the collector ended by itself: {ended:?}"));
        }
        let pause = next_poll(&world, account).await.clamp(SECOND / 10, HOUR);
        select! {
            biased;
            () = world.changed.notified() => sleep(SECOND / 100).await,
            () = sleep(pause) => {}
        }
    }
}

/// How long nothing can be polled.
async fn next_poll(world: &World, account: Account) -> Duration {
    let now = world.time();
    let jobs = world.store.jobs(JobFilter { limit: 1000, ..JobFilter::default() }).await;
    let open = jobs.into_iter().flat_map(|page| page.items).filter(|job| job.state.is_open());
    let due = open.map(|job| job.at).min();
    let plan = world.plan;
    let key = account.fingerprint();
    let settings = BucketSettings { per_minute: plan.per_minute, burst: plan.burst, key };
    let bucket = world.store.bucket().await.expect("a store in memory has a bucket");
    let token = bucket.next_token(settings, now);
    let next = due.map(|due| due.max(token));
    next.map_or(DAY, |next| next.duration_since(now).unwrap_or_default())
}
