use std::{
    hash::{BuildHasher, RandomState},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use crate::{
    CheckFinding,
    cases::{self, Answer, JOB_ID_PREFIX, Phase, Sample},
    common_cause::common_cause,
    cross_checks::overall_findings,
    endpoint::Endpoint,
    http::Observed,
};

/// The response timeout after a phase without any response: the remaining cases will probably get none
/// either.
const SHORT_TIMEOUT: Duration = Duration::from_millis(500);

/// The time limit for one case.
const CASE_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs every case, phase by phase, until `end`, or until one finding explains all others. Then it also returns why.
pub(crate) async fn run(
    mut endpoint: Endpoint,
    end: Instant,
) -> (Vec<CheckFinding>, Option<&'static str>) {
    // The job ids differ from those of any other run, or the receiver would take them for duplicates.
    let run = RandomState::new().hash_one("run");
    let (mut findings, mut all) = (Vec::new(), Vec::<Answer>::new());
    for Phase { cases, concurrency } in cases::phases(&endpoint) {
        let shared = Arc::new(endpoint.clone());
        let before = findings.len();
        let runs = stream::iter(cases).enumerate().map(|(index, case)| {
            let number = before + index;
            let (endpoint, job_id) =
                (Arc::clone(&shared), format!("{JOB_ID_PREFIX}{run:016x}-{number}"));
            let sample = Sample { endpoint, job_id };
            async move {
                let limit = end.min(Instant::now() + CASE_TIMEOUT);
                let observed = timeout_at(limit, case.run(sample)).await;
                let late = if limit == end { Observed::NotTried } else { Observed::TimedOut };
                (case, observed.unwrap_or_else(|_| vec![late]))
            }
        });
        let mut runs = pin!(runs.buffered(concurrency));
        while let Some((case, observed)) = runs.next().await {
            findings.push(case.finding(&observed));
            all.extend(observed.into_iter().map(|observed| Answer {
                case: case.name,
                expect: case.expect,
                observed,
            }));
            let stopped = common_cause(&all);
            if stopped.is_some() {
                return (findings, stopped);
            }
        }
        if all.iter().all(|answer| answer.observed.response().is_none()) {
            endpoint.response_timeout = SHORT_TIMEOUT;
        }
    }
    findings.extend(overall_findings(&endpoint, &all));
    (findings, None)
}
