use std::sync::{Mutex, PoisonError};

use crate::log;

/// What an operator should know of the server, as it was seen last. What is new is logged.
#[derive(Default)]
pub(super) struct Findings(Mutex<Vec<String>>);

impl Findings {
    pub(super) fn get(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, findings: Vec<String>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        findings.iter().filter(|finding| !known.contains(finding)).for_each(|new| log::found(new));
        *known = findings;
    }
}
