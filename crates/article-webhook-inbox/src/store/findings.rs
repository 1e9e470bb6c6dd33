use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::telemetry;

/// How many findings are kept and logged one by one. A check of the store finds all.
const MAX_FINDINGS: usize = 32;

/// The part of a SQLite file's damage that no check of the store can find any more: commits in the write-ahead log.
pub const LOG: &str = "log";

/// The damage that a store has found since it was opened. Each finding is a sentence with what to do. It names no body, and a job id
/// in it is escaped.
#[derive(Debug, Default)]
pub struct Findings {
    known: Mutex<Vec<(&'static str, String)>>,
    is_silent: bool,
}

impl Findings {
    /// Findings of a trial or of a check. All are kept, and they are neither logged nor counted.
    pub fn silent() -> Self {
        Self { is_silent: true, ..Self::default() }
    }

    /// Adds a finding, and reports it by log and metric. One that is known is counted again, and logged from time to time. `part` is
    /// a label of the metric, such as `entry` or `ledger`.
    pub fn add(&self, part: &'static str, finding: String) {
        let findings = &mut self.known();
        let is_known = findings.iter().any(|(_, known)| *known == finding);
        if self.is_silent {
            findings.extend((!is_known).then_some((part, finding)));
        } else if findings.len() < MAX_FINDINGS && !is_known {
            telemetry::damage_found(part, &finding);
            findings.push((part, finding));
        } else {
            telemetry::more_damage_found(part);
        }
    }

    /// The findings, the oldest first.
    pub fn all(&self) -> Vec<String> {
        self.known().iter().map(|(_, finding)| finding.clone()).collect()
    }

    /// The findings about the log.
    pub fn of_log(&self) -> Vec<String> {
        let known = self.known();
        let of_log = known.iter().filter(|(part, _)| *part == LOG);
        of_log.map(|(_, finding)| finding.clone()).collect()
    }

    fn known(&self) -> MutexGuard<'_, Vec<(&'static str, String)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_kept_once_and_their_number_is_bounded() {
        let findings = Findings::default();
        for number in 0..100 {
            findings.add("entry", format!("entry {number} is damaged"));
            findings.add("entry", "entry 0 is damaged".to_owned());
        }
        assert_eq!(findings.all().len(), MAX_FINDINGS);
        assert_eq!(findings.all()[1], "entry 1 is damaged");
    }
}
