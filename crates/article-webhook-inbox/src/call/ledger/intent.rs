use std::{fmt, time::SystemTime};

use article_webhook::JobId;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::Pause;
use crate::{Error, entry::excerpt};

/// What is known about an order.
///
/// ```
/// use article_webhook_inbox::IntentState;
///
/// assert_eq!(IntentState::Unknown.to_string(), "unknown");
/// assert_eq!(IntentState::from_name("ordered"), Some(IntentState::Ordered));
/// assert_eq!(IntentState::from_name("paid"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive] // there may be more states
pub enum IntentState {
    /// The call that orders may be under way, until its deadline.
    #[default]
    Ordering,
    /// The call has ended, or its deadline has passed, and it is not known whether the service took the order. No store
    /// keeps this state: it follows from `Ordering` and the time.
    Unknown,
    /// The service took it.
    Ordered,
    /// The application gave it up while its outcome was unknown.
    Abandoned,
}

impl IntentState {
    /// All states.
    pub const ALL: &'static [Self] =
        &[Self::Ordering, Self::Unknown, Self::Ordered, Self::Abandoned];

    /// Whether the application may order once more: no call is under way, and no job is known.
    #[must_use]
    pub fn may_be_ordered_again(self) -> bool {
        matches!(self, Self::Unknown | Self::Abandoned)
    }

    /// The name of the state in databases, logs and tools.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ordering => "ordering",
            Self::Unknown => "unknown",
            Self::Ordered => "ordered",
            Self::Abandoned => "abandoned",
        }
    }
}

named!(IntentState, "not a state of an intent");

/// An order, by the application's own key.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{Clock, Inbox, Intent, IntentState, MemoryStore};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
///     let inbox = Inbox::new(MemoryStore::new(clock.clone()));
/// #     inbox.ledger().intend("post-17", Duration::from_secs(60), 1, None).await?;
/// #     let intent = async || inbox.ledger().intent("post-17").await.map(|found| found.map(|intent| intent.state));
///     // A collector orders `post-17`.
///     assert_eq!(intent().await?, Some(IntentState::Ordering));
///
///     clock.advance(Duration::from_secs(60)); // the process died, and no answer was stored
///     assert_eq!(intent().await?, Some(IntentState::Unknown));
///     assert!(Intent::check_name("post 18").is_err());
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be known of an intent
pub struct Intent {
    /// The number of the intent in its store. Numbers ascend and are never reused.
    pub id: i64,
    /// The application's key of the order.
    pub name: Box<str>,
    /// What is known about it.
    pub state: IntentState,
    /// When it was stored.
    pub created_at: SystemTime,
    /// Ordering: the deadline of the call. Unknown: when that passed, or the call ended. Otherwise: when it entered its
    /// state.
    pub at: SystemTime,
    /// The job that it became. `None` before that, and after that job was erased.
    pub job_id: Option<JobId>,
    /// What was ordered. `None` if that is not known, and after its job was erased.
    pub topic: Option<Topic>,
}

/// What an article is ordered about: the first 200 characters of the topic. `Debug` shows none of them.
///
/// ```
/// use article_webhook_inbox::Topic;
///
/// let topic = Topic::of(" How to choose running shoes ").expect("it is not blank");
/// assert_eq!(topic.as_str(), "How to choose running shoes");
/// assert!(!format!("{topic:?}").contains("shoes"));
/// assert!(Topic::of(" ").is_none());
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Topic(#[serde(deserialize_with = "shortened")] Box<str>);

/// An export may come from elsewhere.
fn shortened<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<str>, D::Error> {
    let text = String::deserialize(deserializer)?;
    excerpt(&text).ok_or_else(|| D::Error::custom("a topic is not blank"))
}

impl Topic {
    /// `None` of a text that is blank.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        excerpt(text).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topic").finish_non_exhaustive()
    }
}

impl Intent {
    /// A name is what a capability URL can carry, also where none carries it: an application may turn that on later.
    ///
    /// # Errors
    ///
    /// It is not 1 to 64 ASCII letters, digits, `-` or `_`.
    pub fn check_name(name: &str) -> Result<(), Error> {
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if (1..=64).contains(&name.len()) && name.bytes().all(is_legal) {
            Ok(())
        } else {
            Err(Error::invalid("an intent is 1 to 64 ASCII letters, digits, `-` or `_`"))
        }
    }
}

/// The right to make the call that orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an intent and a fence are the whole proof")]
pub struct IntentLease {
    /// The [id](Intent::id) of the intent.
    pub id: i64,
    /// The number of this call. It grows each time the intent is ordered again.
    pub fence: i64,
}

/// What a call that ordered nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a collector reports every field")]
pub struct CallRefused {
    /// Whether it changed anything: it was the last call, and no answer to it was stored.
    pub is_noted: bool,
    /// A job that was delivered in its place, if a handler may have had its article.
    pub handled: Option<JobId>,
}

/// Whether a call may order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a collector handles every result")]
pub enum Intended {
    /// The intent is stored. This caller, and no other, may make one call before the deadline.
    Begun(IntentLease),
    /// The intent was stored before. This caller must not order.
    Known(Intent),
    /// Calls with the key are paused. Nothing is stored.
    Paused(Pause),
}
