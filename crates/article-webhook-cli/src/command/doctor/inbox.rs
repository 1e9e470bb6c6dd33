mod worker;

mod content;

mod file;
#[cfg(feature = "postgres")]
mod postgres;

use super::finding::Finding;
use crate::{
    context::Context,
    failure::Failure,
    store::{At, InboxArgument},
};

/// Looks at an inbox beside the receivers that work on it, if there are any.
pub(super) async fn examine(
    inbox: &InboxArgument,
    context: &Context,
) -> Result<Vec<Finding>, Failure> {
    let place = match inbox.place(&context.environment) {
        Ok(place) => place,
        Err(failure) => return Ok(vec![content::refused(failure)]),
    };
    match &place.at {
        At::File(file) => file::examine(file, context).await,
        #[cfg(feature = "postgres")]
        At::Postgres(database) => Ok(postgres::examine(database, &place, context).await),
    }
}
