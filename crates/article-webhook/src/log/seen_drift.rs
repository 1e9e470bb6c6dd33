use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::article::Drift;

/// How many differences are kept.
const MOST: usize = 64;

const MORE: &str = "more than 64 differences were seen, and further ones are not logged";

/// The differences between bodies and the service's document that were seen: each once. Clones share
/// them.
///
/// A [`Receiver`](crate::Receiver) has its own, and so has the inbox for its workers.
///
/// ```
/// use article_webhook::{ArticleResult, adapter::SeenDrift};
///
/// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "A", "html": "", "tone": "warm"}}"#;
/// let (_, drift) = ArticleResult::from_json_with_drift(body)?;
/// let seen = SeenDrift::default();
/// let new = seen.see(&drift);
/// assert!(new.contains(&"article.tone: unknown field, a string".to_owned()));
/// assert!(seen.see(&drift).is_empty(), "all were seen before");
/// assert_eq!(seen.all(), new);
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SeenDrift(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// In words, which begin with the path. One path may differ in several ways.
    differences: BTreeSet<String>,
    are_more: bool,
}

impl SeenDrift {
    /// The differences that were not seen before, in words and escaped, for the log. Of more than 64, the others are not
    /// named: one last text says so, once.
    #[must_use]
    pub fn see(&self, drift: &[Drift]) -> Vec<String> {
        let mut new = Vec::new();
        if drift.is_empty() {
            return new;
        }
        let mut seen = self.lock();
        for drift in drift {
            if seen.are_more {
                break;
            }
            let difference = drift.to_string();
            if seen.differences.contains(&difference) {
                continue;
            }
            if seen.differences.len() == MOST {
                seen.are_more = true;
                new.push(MORE.to_owned());
            } else {
                seen.differences.insert(difference.clone());
                new.push(difference);
            }
        }
        new
    }

    /// All of them, in words and escaped, in the order of their paths. If there were more than 64, the last text says
    /// so.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        let seen = self.lock();
        let more = seen.are_more.then(|| MORE.to_owned());
        seen.differences.iter().cloned().chain(more).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn each_difference_is_new_once_and_the_end_is_reported_once() {
        let seen = SeenDrift::default();
        let mut new = Vec::new();
        for number in 0..100 {
            let post = fixture::complete().field(&format!("field_{number:02}"), 1);
            for _ in 0..2 {
                new.extend(seen.see(&post.delivery().unwrap().drift()));
            }
        }
        assert_eq!(new.len(), MOST + 1);
        assert_eq!(new[1], "field_01: unknown field, a number");
        assert_eq!(new[MOST], MORE);
        assert_eq!(seen.all(), new);
    }

    #[test]
    fn another_kind_of_value_at_the_same_path_is_another_difference() {
        let seen = SeenDrift::default();
        for (value, expected) in [
            (serde_json::Value::Null, "featured_image: expected an object, found null"),
            ("a.png".into(), "featured_image: expected an object, found a string"),
        ] {
            let post = fixture::complete().field("featured_image", value);
            assert_eq!(seen.see(&post.delivery().unwrap().drift()), [expected]);
        }
    }
}
