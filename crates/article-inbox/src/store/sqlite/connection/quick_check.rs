use std::path::Path;

use rusqlite::Connection;

use super::refusal::{damaged, refused};
use crate::Error;

/// Files up to this size are searched for damage at start.
const QUICK_CHECK_BYTES: u64 = 64 << 20;

/// Searches a file for damage, if it is small enough.
pub(crate) fn quick_check(connection: &Connection, path: &Path) -> Result<(), Error> {
    // The file is not opened: closing it would release the locks that this process holds on it.
    if path.metadata().map_or(0, |metadata| metadata.len()) > QUICK_CHECK_BYTES {
        return Ok(());
    }
    let answer = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match answer {
        Ok(answer) if answer == "ok" => Ok(()),
        Ok(_) => Err(damaged(path)),
        Err(error) => Err(refused(path, &error)),
    }
}
