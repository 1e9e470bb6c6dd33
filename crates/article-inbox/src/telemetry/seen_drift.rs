use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use article_webhook::Drift;

use super::log;
use crate::EntryKey;

/// How many differences are kept.
const MOST: usize = 64;

/// The differences between articles and the service's document that workers of an inbox have seen, by their paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenDrift(Arc<Mutex<BTreeMap<String, String>>>);

impl SeenDrift {
    /// Logs what was not seen before.
    pub(crate) fn see(&self, key: &EntryKey, drift: &[Drift]) {
        if drift.is_empty() {
            return;
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for drift in drift {
            if seen.len() < MOST && !seen.contains_key(&*drift.path) {
                log::drift(key, drift);
                seen.insert(drift.path.to_string(), drift.to_string());
            }
        }
    }

    /// All of them, escaped, by their paths.
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use article_webhook::fixture::DeliveryRequest;

    use super::*;

    #[test]
    fn each_difference_is_seen_once_and_their_number_is_bounded() {
        let (seen, key) = (SeenDrift::default(), EntryKey::article("job_1".parse().unwrap()));
        for number in 0..100 {
            let post = DeliveryRequest::complete().field(&format!("field_{number:02}"), 1.into());
            for _ in 0..2 {
                seen.see(&key, &post.delivery().unwrap().drift());
            }
        }
        assert_eq!(seen.all().len(), MOST);
        assert_eq!(seen.all()[1], "field_01: unknown field, a number");
    }
}
