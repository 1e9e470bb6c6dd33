use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::log;

/// What an operator should know of the server, as it was seen last. What is new is logged.
#[derive(Default)]
pub(super) struct Findings(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    at: Option<Instant>,
    findings: Vec<String>,
}

impl Findings {
    pub(super) fn get(&self) -> Vec<String> {
        self.lock().findings.clone()
    }

    pub(super) fn set(&self, findings: Vec<String>) {
        let mut seen = self.lock();
        let is_new = |finding: &&String| !seen.findings.contains(finding);
        findings.iter().filter(is_new).for_each(|new| log::found(new));
        *seen = Seen { at: Some(Instant::now()), findings };
    }

    /// Whether nothing was seen for this time.
    pub(super) fn are_older_than(&self, age: Duration) -> bool {
        self.lock().at.is_none_or(|at| at.elapsed() > age)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
