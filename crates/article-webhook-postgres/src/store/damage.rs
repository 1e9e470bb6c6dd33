use std::sync::{Mutex, PoisonError};

use article_webhook_inbox::store::report_damage;

/// How many findings are kept and told.
const MOST: usize = 32;

/// The damage that was found since the store was connected. Each finding is a sentence.
#[derive(Default)]
pub(super) struct Damage(Mutex<Vec<String>>);

/// Where damage is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Entry,
    Ledger,
}

impl Damage {
    /// Adds a finding that is new, and tells it.
    pub(super) fn add(&self, part: Part, finding: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST && !known.contains(&finding) {
            let part = match part {
                Part::Entry => "entry",
                Part::Ledger => "ledger",
            };
            report_damage(part, &finding);
            known.push(finding);
        }
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
