use std::time::SystemTime;

use crate::{Source, State};

/// What a new job needs to know of the article's entry, where that came before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct ArticleEntry {
    /// The state of the work on it.
    pub state: State,
    /// When the first of the bodies that the service delivered was stored.
    pub pushed_at: Option<SystemTime>,
    /// When the first of the bodies that the API gave was stored.
    pub collected_at: Option<SystemTime>,
}

impl ArticleEntry {
    /// How the article came first.
    #[must_use]
    pub fn source(&self) -> Source {
        match (self.pushed_at, self.collected_at) {
            (None, Some(_)) => Source::Api,
            (Some(pushed_at), Some(collected_at)) if collected_at < pushed_at => Source::Api,
            _ => Source::Webhook,
        }
    }
}

/// Whether an entry in this state has no body that a worker can read.
pub(super) fn is_rejected(entry: State) -> bool {
    matches!(entry, State::Unhandled | State::Corrupt)
}
