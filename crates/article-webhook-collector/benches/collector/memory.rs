use article_webhook_collector::Collector;
use article_webhook_inbox::{Inbox, JobState, store::Expect};

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
    let (before, largest) = crate::runtime().block_on(async {
        let inbox = Inbox::open(folder.path().join("inbox.db")).await.unwrap();
        let ledger = inbox.ledger();
        let collector = Collector::builder(&inbox, service.client())
            .rate(1_000_000, 1_000_000)
            .concurrency(16)
            .build()
            .unwrap();
        // Before the first article: what the first ones fill, caches and pools, counts too.
        let before = resident();
        let mut largest = before;
        for jobs in service.jobs.chunks(ARTICLES / STAGES) {
            let now = ledger.now();
            let expected = jobs.iter().map(|job_id| Expect::job(job_id.clone(), now));
            ledger.expect(expected.collect()).await.unwrap();
            collector.run_until_idle().await.unwrap();
            largest = largest.max(resident());
        }
        let collected = ledger.ledger_counts().await.unwrap().of(JobState::Collected);
        assert_eq!(collected, ARTICLES as u64, "every article was collected");
        (before, largest)
    });
    let mut table = Table::new(
        "collector: memory",
        "the memory of a collector while it stores articles of 4 KB, in MiB",
        &["articles", "memory before", "more at most"],
    );
    table.row("100,000", [plain(before, ""), at_most(largest - before, MOST, "")]);
    println!("{table}");
}
