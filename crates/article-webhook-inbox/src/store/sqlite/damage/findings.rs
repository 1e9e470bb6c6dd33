use std::{
    collections::BTreeSet,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::telemetry;

/// How many findings are kept and told one by one. A check of the store finds all.
const MOST: usize = 32;

/// The least time between two attempts to build indexes again while the store is open.
const PAUSE: Duration = Duration::from_secs(300);

/// The damage that was found since the store was opened. Each finding is a sentence.
#[derive(Debug, Default)]
pub(in crate::store::sqlite) struct Findings {
    known: Mutex<Known>,
    is_silent: bool,
}

#[derive(Debug, Default)]
struct Known {
    findings: Vec<(Part, String)>,
    built_again: Option<Instant>,
    unreadable: BTreeSet<Unreadable>,
    has_learned: bool,
}

/// What SQLite fails to read. Entries and bodies are named by the id of the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store::sqlite) enum Unreadable {
    Entry(i64),
    Bodies(i64),
    /// A job of the ledger, by its own id.
    Job(i64),
    /// The index by which jobs of the ledger are found.
    Jobs,
}

impl Known {
    fn may_build_again(&self, now: Instant) -> bool {
        self.built_again.is_none_or(|built| now.duration_since(built) >= PAUSE)
    }
}

impl Findings {
    /// Findings of a trial. They are neither logged nor counted.
    pub(in crate::store::sqlite) fn of_a_trial() -> Self {
        Self { is_silent: true, ..Self::default() }
    }

    /// Adds a finding, and tells it by log and metric. One that is known is counted again, and logged from time to time.
    pub(in crate::store::sqlite) fn add(&self, part: Part, finding: String) {
        if self.is_silent {
            return;
        }
        let findings = &mut self.known().findings;
        if findings.len() < MOST && !findings.iter().any(|(_, known)| *known == finding) {
            telemetry::damage_found(part.as_str(), &finding);
            findings.push((part, finding));
        } else {
            telemetry::more_damage_found(part.as_str());
        }
    }

    pub(super) fn is_unreadable(&self, what: Unreadable) -> bool {
        self.known().unreadable.contains(&what)
    }

    pub(super) fn learn(&self, what: Unreadable) {
        let known = &mut self.known();
        known.has_learned |= known.unreadable.insert(what);
    }

    /// Whether something unreadable became known since this was asked last.
    pub(in crate::store::sqlite) fn has_learned(&self) -> bool {
        mem::take(&mut self.known().has_learned)
    }

    /// The findings, the oldest first.
    pub(in crate::store::sqlite) fn all(&self) -> Vec<String> {
        self.known().findings.iter().map(|(_, finding)| finding.clone()).collect()
    }

    /// The findings about the log. A check of the store cannot find them any more.
    pub(in crate::store::sqlite) fn of_log(&self) -> Vec<String> {
        let known = self.known();
        let of_log = known.findings.iter().filter(|(part, _)| *part == Part::Log);
        of_log.map(|(_, finding)| finding.clone()).collect()
    }

    /// Whether indexes may be built again, because that was not tried for some minutes.
    pub(in crate::store::sqlite) fn may_build_again(&self) -> bool {
        self.known().may_build_again(Instant::now())
    }

    /// The same, and it counts as tried now.
    pub(in crate::store::sqlite) fn try_to_build_again(&self) -> bool {
        let (known, now) = (&mut self.known(), Instant::now());
        let may = known.may_build_again(now);
        if may {
            known.built_again = Some(now);
        }
        may
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of the files that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::sqlite) enum Part {
    /// The write-ahead log: commits in it cannot be read.
    Log,
    /// An index: it was built again.
    Index,
    /// Pages that cannot be built again.
    Page,
    /// The row of an entry.
    Entry,
    /// The row of a body, or its bytes.
    Body,
    /// A number that counts on.
    Counter,
    /// A row of the ledger.
    Ledger,
}

impl Part {
    fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Index => "index",
            Self::Page => "page",
            Self::Entry => "entry",
            Self::Body => "body",
            Self::Counter => "counter",
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
        assert_eq!(findings.all().len(), MOST);
        assert_eq!(findings.all()[1], "entry 1 is damaged");
    }
}
