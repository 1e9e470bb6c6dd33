use std::{
    fmt,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use article_collector::Collector;
use article_inbox::{
    Inbox, JobFilter,
    store::{BucketSettings, Ledger},
};
use tokio::{
    select,
    sync::Notify,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    api::Line,
    store::Connection,
    worker::work,
    world::{DAY, HOUR, MINUTE, ORDERS, SECOND, Urls, World, span},
};

/// One process from its start to its end. Nothing that it calls after its end is carried out.
#[derive(Clone)]
pub(crate) struct Life(Arc<Inner>);

struct Inner {
    node: usize,
    number: u32,
    is_over: AtomicBool,
    over: Notify,
}

impl Life {
    fn new(node: usize, number: u32) -> Self {
        let (is_over, over) = (AtomicBool::new(false), Notify::new());
        Self(Arc::new(Inner { node, number, is_over, over }))
    }

    pub(crate) fn node(&self) -> usize {
        self.0.node
    }

    /// The process dies here.
    pub(crate) async fn end(&self, world: &World, name: &str, when: &str) {
        world.note(&format!("{self} dies {when} {name}"));
        world.with(|inner| inner.truth.crashes.insert(format!("{when} {name}")));
        self.0.is_over.store(true, Ordering::Relaxed);
        self.0.over.notify_one();
        pending::<()>().await;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Relaxed)
    }

    /// Returns while the process lives.
    pub(crate) async fn go_on(&self) {
        if self.is_over() {
            pending::<()>().await;
        }
    }
}

impl fmt::Display for Life {
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

/// A machine: it starts its process again whenever that has died.
pub(crate) async fn run_node(world: Arc<World>, node: usize) {
    for number in 1.. {
        let life = Life::new(node, number);
        let running = start(&world, &life);
        world.note(&format!("{life} starts"));
        world.nodes()[node] = Some(running.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(collect(Arc::clone(&world), running.collector));
        tasks.spawn(work(Arc::clone(&world), running.store));
        life.0.over.notified().await;
        world.nodes()[node] = None;
        drop(tasks);
        let down = world.draw(|rng| span(rng, SECOND, 6 * HOUR));
        sleep_while_it_storms(&world, down).await;
    }
}

/// Waits for this time, or until nothing goes wrong any more.
async fn sleep_while_it_storms(world: &World, time: Duration) {
    let end = world.now() + time;
    while world.now() < end && !world.with(|inner| inner.weather.is_calm()) {
        let rest = end.saturating_sub(world.now());
        _ = timeout(rest.min(10 * MINUTE), world.changed.notified()).await;
    }
}

fn start(world: &Arc<World>, life: &Life) -> Running {
    let store = Connection::new(world, life);
    let inbox = Inbox::new(store.clone());
    let collector = Collector::builder(&inbox, Line::new(world, life))
        .rate(world.plan.per_minute, world.plan.burst)
        // Longer than a call: Tokio tells several calls of their end in an order that no seed replays.
        .shutdown_grace(MINUTE);
    let collector = match world.plan.urls {
        Urls::Capability => collector.webhook_urls(world.key.clone(), ORDERS),
        Urls::PublishTarget => collector,
    };
    let collector = collector.build().expect("the settings are valid");
    Running { collector, inbox, store }
}

/// Asks for what is due. A run of `Collector::run` over days would look into the store each ten seconds, so it is run for
/// some seconds now and then, and until it is idle at all other times.
async fn collect(world: Arc<World>, collector: Collector) {
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
        let pause = next_ask(&world).await.clamp(SECOND / 10, HOUR);
        select! {
            biased;
            () = world.changed.notified() => sleep(SECOND / 100).await,
            () = sleep(pause) => {}
        }
    }
}

/// How long nothing can be asked for.
async fn next_ask(world: &World) -> Duration {
    let now = world.time();
    let jobs = world.store.jobs(JobFilter { limit: 1000, ..JobFilter::default() }).await;
    let open = jobs.into_iter().flat_map(|page| page.items).filter(|job| job.state.is_open());
    let due = open.map(|job| job.at).min();
    let plan = world.plan;
    let settings = BucketSettings { per_minute: plan.per_minute, burst: plan.burst, key: 17 };
    let bucket = world.store.bucket().await.expect("a store in memory has a bucket");
    let token = bucket.next_token(settings, now);
    let next = due.zip(token).map(|(due, token)| due.max(token));
    next.map_or(DAY, |next| next.duration_since(now).unwrap_or_default())
}
