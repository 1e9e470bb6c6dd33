//! The entries of which many are changed.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use article_webhook_inbox::{Digest, State, store::Store};
use tokio::time::sleep;

use crate::bodies::workable;

/// How many rows a contender inserts in one transaction: as many entries as the inbox changes.
pub(crate) const PAGE: u32 = 250;
pub(crate) const BODY_BYTES: usize = 2 * 1024;

pub(crate) fn job_id(number: u32) -> String {
    format!("job_{number:08}")
}

pub(crate) fn body(number: u32) -> String {
    let mut random = fastrand::Rng::with_seed(u64::from(number));
    std::iter::repeat_with(|| random.alphanumeric()).take(BODY_BYTES).collect()
}

/// What an inbox with entries in a state exports.
pub(crate) fn lines(entries: u32, state: State) -> Vec<u8> {
    let mut lines = Vec::new();
    for number in 0..entries {
        let (job_id, body) = (job_id(number), body(number));
        let digest = Digest::of(body.as_bytes());
        let at = 1_750_000_000_000_u64 + u64::from(number);
        writeln!(
            lines,
            r#"{{"kind":"entry","job_id":"{job_id}","event":"article.complete","state":"{state}","attempts":8,"received_at":{at},"at":{at},"since":{at},"conflicts":0,"cause":"the blog is down","bodies":[{{"received_at":{at},"source":"webhook","target":"default","sha256":"{digest}","body":"{body}"}}]}}"#
        )
        .unwrap();
    }
    let digest = Digest::of(&lines);
    writeln!(
        lines,
        r#"{{"kind":"end","entries":{entries},"jobs":0,"intents":0,"sha256":"{digest}"}}"#
    )
    .unwrap();
    lines
}

/// Delivers until it is over. Returns how long the slowest delivery took.
pub(crate) async fn deliver(store: impl Store, is_over: Arc<AtomicBool>) -> Duration {
    let (mut random, mut longest) = (fastrand::Rng::new(), Duration::ZERO);
    while !is_over.load(Relaxed) {
        let arrival = workable(BODY_BYTES, &mut random);
        let start = Instant::now();
        store.record(arrival).await.unwrap();
        longest = longest.max(start.elapsed());
        sleep(Duration::from_millis(10)).await;
    }
    longest
}
