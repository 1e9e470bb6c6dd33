use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use article_webhook_client::{Client, JobId};
use article_webhook_collector::Collector;
use article_webhook_inbox::{Inbox, JobState, store::Expect};
use tokio::task::JoinSet;

use crate::{
    form::{Form, median},
    scratch,
    service::Service,
    table::{Table, at_least, plain},
};

/// How many polls are under way at the same time.
const AT_ONCE: u32 = 16;

const ARTICLES: usize = 2000;

/// Articles a second.
const LEAST: f64 = 500.0;

/// How many articles a collector brings in a second, and how many a client alone.
pub(crate) fn run(form: Form) {
    let runtime = crate::runtime();
    let service = Service::start(ARTICLES, 16 * 1024);
    let lap = |contender: usize| {
        runtime.block_on(async {
            let client = service.client();
            let folder = scratch::folder();
            match contender {
                0 => alone(client, &service.jobs).await,
                1 => collect(client, &Inbox::memory(), &service.jobs).await,
                _ => {
                    let inbox = Inbox::open(folder.path().join("inbox.db")).await.unwrap();
                    collect(client, &inbox, &service.jobs).await
                }
            }
        })
    };
    // What was never run is slower.
    lap(0);
    let rounds: Vec<[f64; 3]> = (0..form.rounds()).map(|_| [lap(0), lap(1), lap(2)]).collect();
    let rate = |contender: usize| median(rounds.iter().map(|laps| laps[contender]));
    let ratio = |contender: usize| median(rounds.iter().map(|laps| laps[contender] / laps[0]));

    let mut table = Table::new(
        "collector: fast",
        "articles of 16 KB a second over loopback, 16 polls at once, without a limit",
        &["", "a second", ": client alone"],
    );
    table.row("client alone", [plain(rate(0), ""), plain(1.0, " ×")]);
    for (contender, name) in [(1, "collector, memory"), (2, "collector, SQLite")] {
        table.row(name, [at_least(rate(contender), LEAST, ""), plain(ratio(contender), " ×")]);
    }
    println!("{table}");
}

/// The same calls, and nothing is stored.
async fn alone(client: Client, jobs: &[JobId]) -> f64 {
    let (jobs, next) = (Arc::new(jobs.to_vec()), Arc::new(AtomicUsize::new(0)));
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (client, jobs, next) = (client.clone(), Arc::clone(&jobs), Arc::clone(&next));
        tasks.spawn(async move {
            while let Some(job_id) = jobs.get(next.fetch_add(1, Relaxed)) {
                let response = client.article_once(job_id).await.unwrap();
                assert_eq!(response.status, 200);
            }
        });
    }
    tasks.join_all().await;
    jobs.len() as f64 / start.elapsed().as_secs_f64()
}

async fn collect(client: Client, inbox: &Inbox, jobs: &[JobId]) -> f64 {
    let collector = Collector::builder(inbox, client)
        .rate(1_000_000, 1_000_000)
        .concurrency(AT_ONCE)
        .build()
        .unwrap();
    let ledger = inbox.ledger();
    let now = ledger.now();
    let expected = jobs.iter().map(|job_id| Expect::job(job_id.clone(), now)).collect();
    ledger.expect(expected).await.unwrap();
    let start = Instant::now();
    collector.run_until_idle().await.unwrap();
    let took = start.elapsed().as_secs_f64();
    let collected = ledger.ledger_counts().await.unwrap().of(JobState::Collected);
    assert_eq!(collected, jobs.len() as u64, "every article was collected");
    jobs.len() as f64 / took
}
