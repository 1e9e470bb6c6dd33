use std::path::Path;

use article_inbox::{Error, Inbox, SqliteStore};

use crate::failure::Failure;

/// Opens an inbox beside the receiver that works on it, if there is one. It never creates a file.
pub(crate) async fn shared(path: &Path) -> Result<Inbox, Failure> {
    shared_store(path).await.map(Inbox::new)
}

/// The store of such an inbox.
pub(crate) async fn shared_store(path: &Path) -> Result<SqliteStore, Failure> {
    let named = path.to_owned();
    let opened = blocking(move || SqliteStore::open_shared(named)).await?;
    opened.map_err(|error| refused(path, error))
}

/// Opens an inbox that no other process works on, or creates it.
pub(crate) async fn exclusive(path: &Path) -> Result<Inbox, Failure> {
    let path = path.to_owned();
    Ok(Inbox::new(blocking(move || SqliteStore::open(path)).await??))
}

fn refused(path: &Path, error: Error) -> Failure {
    let failure = Failure::from(error);
    match path.exists() {
        true => failure,
        false => failure.mend("check the path; the receiver creates the file when it starts"),
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let ran = tokio::task::spawn_blocking(run).await;
    ran.map_err(|error| Failure::failed("the work on files was interrupted").because(&error))
}
