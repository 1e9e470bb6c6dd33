use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::telemetry;

/// How many findings are kept and logged one by one. A check of the store finds all.
const MAX_FINDINGS: usize = 32;

/// The damage that was found since the store was opened. Each finding is a sentence.
#[derive(Debug, Default)]
pub(in crate::store::sqlite) struct Findings {
    known: Mutex<Vec<(Part, String)>>,
    is_silent: bool,
}

impl Findings {
    /// Findings of a trial or of a check. All are kept, and they are neither logged nor counted.
    pub(in crate::store::sqlite) fn silent() -> Self {
        Self { is_silent: true, ..Self::default() }
    }

    /// Adds a finding, and reports it by log and metric. One that is known is counted again, and logged from time to time.
    pub(in crate::store::sqlite) fn add(&self, part: Part, finding: String) {
        let findings = &mut self.known();
        let is_known = findings.iter().any(|(_, known)| *known == finding);
        if self.is_silent {
            findings.extend((!is_known).then_some((part, finding)));
        } else if findings.len() < MAX_FINDINGS && !is_known {
            telemetry::damage_found(part.as_str(), &finding);
            findings.push((part, finding));
        } else {
            telemetry::more_damage_found(part.as_str());
        }
    }

    /// The findings, the oldest first.
    pub(in crate::store::sqlite) fn all(&self) -> Vec<String> {
        self.known().iter().map(|(_, finding)| finding.clone()).collect()
    }

    /// The findings about the log. A check of the store cannot find them any more.
    pub(in crate::store::sqlite) fn of_log(&self) -> Vec<String> {
        let known = self.known();
        let of_log = known.iter().filter(|(part, _)| *part == Part::Log);
        of_log.map(|(_, finding)| finding.clone()).collect()
    }

    fn known(&self) -> MutexGuard<'_, Vec<(Part, String)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of the files that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::sqlite) enum Part {
    /// The lock file.
    Lock,
    /// The write-ahead log: commits in it cannot be read.
    Log,
    /// An index.
    Index,
    /// A page that SQLite cannot read.
    Page,
    /// The row of an entry.
    Entry,
    /// The row of a body, or its bytes.
    Body,
    /// A row of the ledger.
    Ledger,
}

impl Part {
    fn as_str(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Log => "log",
            Self::Index => "index",
            Self::Page => "page",
            Self::Entry => "entry",
            Self::Body => "body",
            Self::Ledger => "ledger",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_kept_once_and_their_number_is_bounded() {
        let findings = Findings::default();
        for number in 0..100 {
            findings.add(Part::Entry, format!("entry {number} is damaged"));
            findings.add(Part::Entry, "entry 0 is damaged".to_owned());
        }
        assert_eq!(findings.all().len(), MAX_FINDINGS);
        assert_eq!(findings.all()[1], "entry 1 is damaged");
    }
}
