use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Completion, store::Store};

/// A store under test, empty at first, and the clock that it reads.
///
/// The crate's page shows a complete implementation.
pub trait Subject: Send + 'static {
    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// The time in the store. It begins at a whole millisecond and changes only by [`advance`](Self::advance).
    fn now(&self) -> SystemTime;

    /// Moves the store's time forward.
    fn advance(&mut self, by: Duration);
}

/// A store under test whose content outlives the process.
pub trait Durable: Subject {
    /// Drops the store without [closing](Store::close) it, as far as the process allows, and opens the same data again.
    fn reopen(&mut self);
}

/// A store under test that shares its database with an application.
pub trait Transactional: Subject {
    /// Runs the statement in a transaction, as an application would, commits, and returns how many rows it changed.
    fn execute(&mut self, completion: &Completion) -> u64;
}
