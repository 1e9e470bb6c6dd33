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
///
/// let quarantine = article.quarantine();
/// assert_eq!(quarantine.to_string(), "job_1 (quarantined article.complete)");
/// assert!(quarantine.is_quarantine() && !quarantine.is_article());
/// assert_eq!((quarantine.quarantined(), article.quarantined()), (Some(article), None));
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

/// What the events of quarantines begin with.
const QUARANTINED: &str = "quarantined ";

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

    /// The key of the bodies of refused deliveries of this key: they are in quarantine. No delivery has its event, because
    /// a header cannot name it.
    #[must_use]
    pub fn quarantine(&self) -> Self {
        let event = [QUARANTINED, self.event.as_str()].concat();
        Self { job_id: self.job_id.clone(), event: event.as_str().into() }
    }

    /// The key of what was delivered and refused, if this is the key of its [quarantine](Self::quarantine).
    #[must_use]
    pub fn quarantined(&self) -> Option<Self> {
        let event = self.event.as_str().strip_prefix(QUARANTINED)?;
        Some(Self { job_id: self.job_id.clone(), event: event.into() })
    }

    /// Whether this is the key of a [quarantine](Self::quarantine).
    #[must_use]
    pub fn is_quarantine(&self) -> bool {
        self.event.as_str().starts_with(QUARANTINED)
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
    fn no_header_names_a_failure_or_a_quarantine() {
        let job = || "job_1".parse().unwrap();
        for key in [EntryKey::failure(job()), EntryKey::article(job()).quarantine()] {
            let post = fixture::complete().header("X-Service-Event", key.event.as_str());
            let refused = fixture::receiver().open(post.headers()).unwrap_err();
            assert_eq!(*refused.rejection(), Rejection::EventInvalid);
        }
    }
}
