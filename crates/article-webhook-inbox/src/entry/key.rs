use std::fmt;

use article_webhook::{Event, JobId};

/// Identifies an entry by its job and event. An event of an unknown kind gets an entry of its own, so that it cannot
/// take the place of the article.
///
/// ```
/// use article_webhook_inbox::EntryKey;
/// use article_webhook::Event;
///
/// let article = EntryKey::article("job_1".parse()?);
/// assert_eq!(article.event, Event::ArticleComplete);
/// assert_eq!(article.to_string(), "job_1 (article.complete)");
/// assert_ne!(article, EntryKey { event: "article.updated".into(), ..article.clone() });
///
/// let failure = EntryKey::failure("job_1".parse()?);
/// assert!(article.is_article() && !article.is_failure());
/// assert!(failure.is_failure() && !failure.is_article());
/// # Ok::<(), article_webhook::InvalidJobId>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a key is one job and one event")]
pub struct EntryKey {
    /// The job, which is the idempotency key of its article.
    pub job_id: JobId,
    /// The event that was delivered.
    pub event: Event,
}

/// The event of a failure.
const FAILURE: &str = "generation failed";

impl EntryKey {
    /// The key of a job's failure: its body is what the API answered about a job that the service gave up. No delivery has
    /// this event, because a header cannot name it: an event in a header has no space.
    #[must_use]
    pub fn failure(job_id: JobId) -> Self {
        Self { job_id, event: FAILURE.into() }
    }

    /// Whether this is the key of a job's failure.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.event.as_str() == FAILURE
    }

    /// Whether this is the key of a job's article.
    #[must_use]
    pub fn is_article(&self) -> bool {
        self.event == Event::ArticleComplete
    }

    /// The key of a job's article: the event is `article.complete`.
    #[must_use]
    pub fn article(job_id: JobId) -> Self {
        Self { job_id, event: Event::ArticleComplete }
    }
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.job_id, self.event)
    }
}

#[cfg(test)]
mod tests {
    use article_webhook::{Rejection, fixture};

    use super::*;

    #[test]
    fn no_header_names_a_failure() {
        let failure = EntryKey::failure("job_1".parse().unwrap());
        let post = fixture::complete();
        let post = post.header("X-Service-Event", failure.event.as_str());
        let refused = fixture::receiver().open(post.headers()).unwrap_err();
        assert_eq!(*refused.rejection(), Rejection::EventInvalid);
    }
}
