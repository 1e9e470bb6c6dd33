//! Hints.

use std::time::Duration;

use article_inbox::Hint;

use crate::{
    Subject, Trial,
    trial::{FIRST, job},
};

fn hint(trial: &Trial<impl Subject>, id: &str, seconds: u64, code: &str) -> Hint {
    Hint { job_id: job(id), at: trial.now() + Duration::from_secs(seconds), code: code.into() }
}

/// A hint is returned as it was given.
pub async fn a_hint_is_kept(trial: Trial<impl Subject>) {
    let given = hint(&trial, "job_1", 0, "malformed_json");
    trial.store().hint(given.clone()).await.unwrap();
    assert_eq!(trial.store().hints(10).await.unwrap(), [given]);
}

/// If a job has several hints, the first is kept.
pub async fn the_first_hint_of_a_job_stays(trial: Trial<impl Subject>) {
    let first = hint(&trial, "job_1", 2, "malformed_json");
    for given in [
        first.clone(),
        hint(&trial, "job_1", 0, "too_large"),
        hint(&trial, "job_1", 5, "too_large"),
    ] {
        trial.store().hint(given).await.unwrap();
    }
    assert_eq!(trial.store().hints(10).await.unwrap(), [first]);
}

/// The oldest hints come first, and no more than the limit.
pub async fn the_oldest_hints_come_first(trial: Trial<impl Subject>) {
    for (id, seconds) in [("job_1", 3), ("job_2", 1), ("job_3", 2)] {
        trial.store().hint(hint(&trial, id, seconds, "malformed_json")).await.unwrap();
    }
    let hints = trial.store().hints(2).await.unwrap();
    let jobs: Vec<_> = hints.into_iter().map(|hint| hint.job_id).collect();
    assert_eq!(jobs, [job("job_2"), job("job_3")]);
}

/// Known jobs: a hint is not an entry, and stays when its job arrives.
pub async fn a_hint_stands_beside_the_entries(trial: Trial<impl Subject>) {
    let given = hint(&trial, "job_1", 0, "malformed_json");
    trial.store().hint(given.clone()).await.unwrap();
    assert_eq!(trial.store().counts().await.unwrap().total(), 0);
    trial.record("job_1", FIRST).await;
    assert_eq!(trial.store().hints(10).await.unwrap(), [given]);
}

/// The time of a hint is rounded down to milliseconds.
pub async fn the_time_of_a_hint_is_rounded_down(trial: Trial<impl Subject>) {
    let given = hint(&trial, "job_1", 0, "malformed_json");
    let at = given.at + Duration::from_nanos(1_999_999);
    trial.store().hint(Hint { at, ..given.clone() }).await.unwrap();
    let rounded = Hint { at: given.at + Duration::from_millis(1), ..given };
    assert_eq!(trial.store().hints(10).await.unwrap(), [rounded]);
}
