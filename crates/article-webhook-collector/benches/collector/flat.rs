use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook_client::JobId;
use article_webhook_inbox::{
    SqliteStore,
    store::{BucketSettings, Expect, PollClaim, PollOutcome, Store},
};
use tokio::task::JoinSet;

use crate::{
    form::{Form, median},
    scratch,
    table::{Table, at_most, plain},
};

const DUE: u64 = 1000;

/// Jobs that wait for their time.
const WAITING: u64 = 1_000_000;

/// How many polls each claim takes: as many as the bench `fast` makes at once, and enough to make the cost of the commit small.
const AT_ONCE: [u32; 2] = [16, 100];

/// The cost of a claim of 16 beside a million jobs that wait, compared with one where nothing waits.
const MOST: f64 = 1.2;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What the claims of a thousand jobs that are due cost, in a ledger of a million jobs and in one of these alone.
pub(crate) fn run(form: Form) {
    let runtime = crate::runtime();
    let mut table = Table::new(
        "collector: flat",
        "the claims of 1,000 jobs that are due, in a ledger in which 1,000,000 wait",
        &["at a time", "nothing waits", "1,000,000 wait", ":"],
    );
    let folders = [scratch::folder(), scratch::folder()];
    let [alone, among] = folders.each_ref().map(|folder| -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(folder.path().join("inbox.db")).unwrap())
    });
    runtime.block_on(async {
        fill(&*among, DUE..DUE + WAITING, DAY).await;
        fill(&*alone, 0..DUE, Duration::ZERO).await;
        fill(&*among, 0..DUE, Duration::ZERO).await;
        for at_once in AT_ONCE {
            // What was never read is slower.
            _ = [claim_all(&alone, at_once).await, claim_all(&among, at_once).await];
            let mut rounds = Vec::new();
            for _ in 0..form.rounds() * 5 {
                rounds.push([claim_all(&alone, at_once).await, claim_all(&among, at_once).await]);
            }
            let ratio = median(rounds.iter().map(|round| round[1] / round[0]));
            table.row(
                format!("SQLite, {at_once}"),
                [
                    plain(median(rounds.iter().map(|round| round[0])), " ms"),
                    plain(median(rounds.iter().map(|round| round[1])), " ms"),
                    if at_once == AT_ONCE[0] {
                        at_most(ratio, MOST, " ×")
                    } else {
                        plain(ratio, " ×")
                    },
                ],
            );
        }
    });
    println!("{table}");
}

/// Expects these jobs after this time. Their ids have no order, like those of the service.
async fn fill(ledger: &dyn Store, numbers: std::ops::Range<u64>, after: Duration) {
    let at = ledger.now() + after;
    let expect = |number: u64| {
        let id = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Expect::job(format!("job_{id:016x}").parse::<JobId>().unwrap(), at)
    };
    let mut jobs = numbers.map(expect).peekable();
    while jobs.peek().is_some() {
        ledger.expect(jobs.by_ref().take(1000).collect()).await.unwrap();
    }
}

/// How many milliseconds it takes to claim everything that is due. Then it is due again.
async fn claim_all(ledger: &Arc<dyn Store>, at_once: u32) -> f64 {
    let bucket = BucketSettings { per_minute: 1_000_000, burst: 1_000_000, key: 1 };
    let claim = PollClaim { limit: at_once, lease: DAY, bucket };
    let mut claimed = Vec::new();
    let start = Instant::now();
    loop {
        let polls = ledger.claim_polls(claim).await.unwrap().polls;
        if polls.is_empty() {
            break;
        }
        claimed.extend(polls);
    }
    let took = start.elapsed();
    assert_eq!(claimed.len() as u64, DUE, "what is due is claimed, and nothing else");
    let mut releases = JoinSet::new();
    for poll in claimed {
        let ledger = Arc::clone(ledger);
        releases.spawn(async move {
            ledger.settle_poll(poll.lease, PollOutcome::Released, 1).await.unwrap()
        });
    }
    releases.join_all().await;
    took.as_secs_f64() * 1000.0
}
