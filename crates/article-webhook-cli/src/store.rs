//! The inbox that a command works on.

#[cfg(feature = "postgres")]
mod database;
mod place;

mod health;

#[cfg(feature = "postgres")]
pub(crate) use database::Database;
pub(crate) use health::{Fact, Health, Works, of_store};
pub(crate) use place::{
    Access, At, InboxArgument, InboxOption, InboxWord, Place, fix_of_missing, shared_file,
};

use crate::failure::Failure;

pub(crate) async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let ran = tokio::task::spawn_blocking(run).await;
    ran.map_err(|error| Failure::failed("the work on files was interrupted").because(&error))
}
