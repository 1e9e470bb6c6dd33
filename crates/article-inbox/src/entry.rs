use std::{fmt, time::SystemTime};

use article_webhook::{Event, JobId};
use bytes::Bytes;

use crate::Digest;

/// Names an entry: there is one for each job and event, so that an event of a kind nobody knows never
/// stands in the way of the article.
///
/// ```
/// use article_inbox::Key;
/// use article_webhook::Event;
///
/// let article = Key::article("job_1".parse()?);
/// assert_eq!(article.event, Event::ArticleComplete);
/// assert_ne!(article, Key { event: "article.updated".into(), ..article.clone() });
/// # Ok::<(), article_webhook::InvalidJobId>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The job, which is the idempotency key of its article.
    pub job_id: JobId,
    /// What happened to it.
    pub event: Event,
}

impl Key {
    /// The entry of a job's article: that of the event `article.complete`.
    ///
    /// ```
    /// let key = article_inbox::Key::article("job_1".parse()?);
    /// assert_eq!(key.to_string(), "job_1 (article.complete)");
    /// # Ok::<(), article_webhook::InvalidJobId>(())
    /// ```
    #[must_use]
    pub fn article(job_id: JobId) -> Self {
        Self { job_id, event: Event::ArticleComplete }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.job_id, self.event)
    }
}

/// Where an entry stands.
///
/// ```
/// use article_inbox::State;
///
/// assert_eq!(State::Waiting.to_string(), "waiting");
/// assert_eq!(State::from_name("dead"), Some(State::Dead));
/// assert_eq!(State::from_name("lost"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    // Exhaustive: a store or a tool that forgets one of them should not compile.
    /// Stored, and due now or at the time of its next attempt.
    Waiting,
    /// A worker is at it, for as long as its lease lasts.
    Leased,
    /// The handler succeeded, or the application completed it in a transaction of its own.
    Done,
    /// Given up: the attempts are used up, or the handler or an operator said so. Kept until requeued.
    Dead,
    /// None of its bodies decodes, or its event is of an unknown kind. A body that does decode supersedes it.
    Unhandled,
    /// What is stored is not what was received. Storing the same body again mends it.
    Corrupt,
}

impl State {
    /// All of them, in the order of an entry's life.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Leased, Self::Done, Self::Dead, Self::Unhandled, Self::Corrupt];

    /// The one word for it, in the database, in logs and for tools.
    ///
    /// ```
    /// assert_eq!(article_inbox::State::Leased.as_str(), "leased");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Unhandled => "unhandled",
            Self::Corrupt => "corrupt",
        }
    }

    /// The state of that name.
    ///
    /// ```
    /// use article_inbox::State;
    ///
    /// assert_eq!(State::from_name("done"), Some(State::Done));
    /// assert_eq!(State::from_name("Done"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a body came in.
///
/// ```
/// use article_inbox::Source;
///
/// assert_eq!(Source::Webhook.to_string(), "webhook");
/// assert_eq!(Source::from_name("fax"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // there may be more ways to learn of an article
pub enum Source {
    /// The service delivered it.
    Webhook,
    /// It was asked for through the service's API.
    Api,
}

impl Source {
    /// The one word for it.
    ///
    /// ```
    /// assert_eq!(article_inbox::Source::Api.as_str(), "api");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Api => "api",
        }
    }

    /// The source of that name.
    ///
    /// ```
    /// use article_inbox::Source;
    ///
    /// assert_eq!(Source::from_name("api"), Some(Source::Api));
    /// assert_eq!(Source::from_name(""), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Webhook, Self::Api].into_iter().find(|source| source.as_str() == name)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is known of an entry without its bodies.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::{Filter, Inbox, State};
/// use article_webhook::{Reply, Sink, fixture::{self, Post}};
///
/// let inbox = Inbox::memory();
/// assert!(inbox.list(Filter::default()).await?.entries.is_empty());
///
/// let post = Post::complete().job_id("job_1");
/// let delivery = fixture::receiver().open(post.headers())?.read(post.body().clone())?;
/// assert_eq!(inbox.accept(delivery).await, Reply::Stored);
/// let entry = &inbox.list(Filter::default()).await?.entries[0];
/// assert_eq!((entry.key.job_id.as_str(), entry.state, entry.attempts), ("job_1", State::Waiting, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number in this store, in the order of arrival; never given to another entry.
    pub id: i64,
    /// Its job and event.
    pub key: Key,
    /// Where it stands.
    pub state: State,
    /// How often a handler was started for it since it was stored or requeued.
    pub attempts: u32,
    /// When its first body was stored.
    pub received_at: SystemTime,
    /// Waiting: when it is due. Leased: when the lease ends. Otherwise: since when it is what it is.
    pub at: SystemTime,
    /// How many bodies came that differ from those before, kept or not.
    pub conflicts: u32,
    /// Why it waits again, is dead, unhandled or corrupt; the application's own words where the handler gave some,
    /// which `Debug` shows and no log event of this crate does.
    pub cause: Option<String>,
}

/// One of an entry's bodies, as it came. There are at most [`BODIES`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::{Inbox, Key, Source};
/// use article_webhook::{Sink, fixture::{self, Post}};
///
/// let inbox = Inbox::memory();
/// let post = Post::complete().job_id("job_1");
/// inbox.accept(fixture::receiver().open(post.headers())?.read(post.body().clone())?).await;
///
/// let (_, bodies) = inbox.show(Key::article("job_1".parse()?)).await?.ok_or("no such entry")?;
/// assert_eq!((bodies[0].source, &*bodies[0].target), (Source::Webhook, "default"));
/// assert_eq!(bodies[0].bytes.as_ref(), Some(post.body()));
/// assert!(bodies[0].is_intact());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Body {
    /// When it was stored.
    pub received_at: SystemTime,
    /// How it came.
    pub source: Source,
    /// The label of the publish target whose token the sender presented.
    pub target: Box<str>,
    /// The intent of the capability URL it was delivered to.
    pub intent: Option<Box<str>>,
    /// The SHA-256 of what came.
    pub digest: Digest,
    /// The bytes; `None` once retention has removed them.
    pub bytes: Option<Bytes>,
}

/// The most different bodies that are kept of one entry.
pub const BODIES: usize = 4;

impl Body {
    /// Whether the bytes are those that came; true of a body that was removed.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use article_inbox::{Body, Digest, Source};
    ///
    /// let body = |bytes: &'static [u8]| Body {
    ///     received_at: SystemTime::UNIX_EPOCH, source: Source::Webhook, target: "default".into(), intent: None,
    ///     digest: Digest::of(b"{}"), bytes: Some(bytes.into()),
    /// };
    /// assert!(body(b"{}").is_intact());
    /// assert!(!body(b"[]").is_intact());
    /// ```
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.bytes.as_ref().is_none_or(|bytes| Digest::of(bytes) == self.digest)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.as_ref().map(|bytes| bytes.len());
        f.debug_struct("Body")
            .field("received_at", &self.received_at)
            .field("source", &self.source)
            .field("target", &self.target)
            .field("intent", &self.intent)
            .field("digest", &self.digest)
            .field("bytes", &bytes)
            .finish()
    }
}
