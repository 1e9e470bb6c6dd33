use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use super::{
    cases::{self, Group},
    finding::Finding,
    heard::Heard,
    overall::overall,
    sample::Sample,
    site::Site,
};

/// Where the first delivery was not answered, little patience is left for the rest.
const IMPATIENCE: Duration = Duration::from_millis(500);

/// No case takes longer.
const CASE: Duration = Duration::from_secs(10);

/// Every case, group by group, until `end`.
pub(super) async fn run(mut site: Site, end: Instant) -> Vec<Finding> {
    // Job ids differ from those of any other run, or the receiver would take them for duplicates.
    let run = RandomState::new().hash_one("run");
    let (mut findings, mut all) = (Vec::new(), Vec::new());
    for Group { cases, at_once } in cases::all(&site) {
        let shared = Arc::new(site.clone());
        let played = stream::iter(cases).enumerate().map(|(at, case)| {
            let number = findings.len() + at;
            let (site, job_id) = (Arc::clone(&shared), format!("check-{run:016x}-{number}"));
            let sample = Sample { site, job_id, seed: run.wrapping_add(number as u64) };
            async move {
                let limit = end.min(Instant::now() + CASE);
                let heard = timeout_at(limit, case.play(sample)).await;
                let late = if limit == end { Heard::Untried } else { Heard::Late };
                (case, heard.unwrap_or_else(|_| vec![late]))
            }
        });
        let played: Vec<_> = played.buffered(at_once).collect().await;
        for (case, heard) in played {
            findings.push(case.finding(&heard));
            all.extend(heard.into_iter().map(|heard| (case.expect, heard)));
        }
        if all.iter().all(|(_, heard)| heard.answer().is_none()) {
            site.patience = IMPATIENCE;
        }
    }
    findings.extend(overall(&site, &all));
    findings
}
