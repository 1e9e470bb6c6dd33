use article_collector::Collector;
use article_inbox::{Inbox, JobState, store::Expect};

use crate::{
    form::Form,
    resident::resident,
    scratch,
    service::Service,
    table::{Table, at_most, plain},
};

const ARTICLES: usize = 100_000;
const STAGES: usize = 20;

/// In MiB.
const MOST: f64 = 32.0;

/// The memory of the process while articles are collected.
pub(crate) fn run(_: Form) {
    let service = Service::start(ARTICLES, 4096);
    let folder = scratch::folder();
    let stages = crate::runtime().block_on(async {
        let inbox = Inbox::open(folder.path().join("inbox.db")).await.unwrap();
        let ledger = inbox.ledger();
        let collector = Collector::builder(&inbox, service.client())
            .rate(1_000_000, 1_000_000)
            .concurrency(16)
            .build()
            .unwrap();
        let mut stages = Vec::new();
        for jobs in service.jobs.chunks(ARTICLES / STAGES) {
            let now = ledger.now();
            let expected = jobs.iter().map(|job_id| Expect::job(job_id.clone(), now));
            ledger.expect(expected.collect()).await.unwrap();
            collector.run_until_idle().await.unwrap();
            stages.push(resident());
        }
        let collected = ledger.ledger_counts().await.unwrap().of(JobState::Collected);
        assert_eq!(collected, ARTICLES as u64, "every article was collected");
        stages
    });
    // The first stages fill caches and pools.
    let (first, rest) = stages.split_at(2);
    let largest = rest.iter().copied().fold(0.0, f64::max);
    let mut table = Table::new(
        "the memory of a collector while it stores articles of 4 KB, in MiB",
        &["articles", "memory at first", "more later"],
    );
    table.row("100,000", [plain(first[1], ""), at_most(largest - first[1], MOST, "")]);
    println!("{table}");
}
