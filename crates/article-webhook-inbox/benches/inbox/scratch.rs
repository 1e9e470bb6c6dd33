use std::{env, path::PathBuf};

use tempfile::TempDir;

/// A folder on the disk that is measured.
pub(crate) fn folder() -> TempDir {
    tempfile::Builder::new().prefix("inbox-bench-").tempdir_in(parent()).unwrap()
}

/// That of the target folder, because a temporary folder may be in memory, or the folder that `INBOX_BENCH_FOLDER` names.
pub(crate) fn parent() -> PathBuf {
    let named = env::var_os("INBOX_BENCH_FOLDER").map(PathBuf::from);
    named.unwrap_or_else(|| env::current_exe().unwrap().with_file_name(""))
}
