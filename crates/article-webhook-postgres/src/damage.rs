use std::sync::{Mutex, PoisonError};

use article_webhook_inbox::store::report_damage;

/// How many findings are kept.
const MAX_FINDINGS: usize = 32;

/// The damage that was found since the store was connected. Each finding is a sentence.
#[derive(Default)]
pub(crate) struct Damage(Mutex<Vec<String>>);

impl Damage {
    /// Adds a finding, and logs it if it is new. `part` is a label of the metric.
    pub(crate) fn add(&self, part: &'static str, finding: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_FINDINGS && !known.contains(&finding) {
            report_damage(part, &finding);
            known.push(finding);
        }
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
