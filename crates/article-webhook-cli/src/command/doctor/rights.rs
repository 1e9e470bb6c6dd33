//! Who may read a file with a secret.

use std::path::Path;

use super::finding::Finding;
use crate::text::command::quoted;

/// Whether every user of the machine can read or change the file, which `what` names.
#[cfg(unix)]
pub(super) fn open_to_others(code: &'static str, what: &str, path: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;

    const READ_OR_WRITE: u32 = 0o006;
    const ENTER: u32 = 0o001;

    // As it is behind links. A pipe is read once.
    let path = path.canonicalize().ok().filter(|path| path.is_file())?;
    let has = |path: &Path, right| {
        path.metadata().is_ok_and(|file| file.permissions().mode() & right != 0)
    };
    let is_open =
        has(&path, READ_OR_WRITE) && path.ancestors().skip(1).all(|folder| has(folder, ENTER));
    is_open.then(|| {
        let path = path.display();
        Finding::warn(code, format!("all users of this machine may read or change {path}, {what}"))
            .because("who reads a secret can use it")
            .fix(format!("chmod o= {}", quoted(&path.to_string())))
    })
}

#[cfg(not(unix))]
pub(super) fn open_to_others(_: &'static str, _: &str, _: &Path) -> Option<Finding> {
    None
}
