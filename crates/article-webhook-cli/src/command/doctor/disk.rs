//! The folder of an inbox, and the disk below it.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use tempfile::NamedTempFile;

use super::finding::Finding;

/// How many syncs are timed.
const SYNCS: usize = 32;

/// What is appended before each, the size of a page.
const APPENDED: [u8; 4096] = [0; 4096];

/// No sync that reaches a device returns sooner: the fastest of them take 30 microseconds or more for a write that survives a
/// power cut. A file system in memory takes less than one.
const LEAST_SYNC: Duration = Duration::from_micros(20);

/// Looks at a folder. A file is made in it, and removed again.
pub(super) fn examine(folder: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    #[cfg(unix)] // elsewhere no inbox is in a file
    findings.extend([rights(folder), free_space(folder)].into_iter().flatten());
    findings.push(match NamedTempFile::new_in(folder) {
        Ok(mut file) => sync(file.as_file_mut()),
        Err(error) => {
            let found = format!("no file can be made in {}", folder.display());
            Finding::fail("disk.not_writable", found)
                .because(error.to_string())
                .fix("let the user of the receiver write to the folder, or name a file in another")
        }
    });
    findings
}

fn sync(file: &mut File) -> Finding {
    let mut time = || -> io::Result<Duration> {
        file.write_all(&APPENDED)?;
        let start = Instant::now();
        file.sync_data()?;
        Ok(start.elapsed())
    };
    let times: io::Result<Vec<_>> = (0..SYNCS).map(|_| time()).collect();
    let mut times = match times {
        Ok(times) => times,
        Err(error) => {
            let found = "what is written cannot be synced to the disk";
            return Finding::fail("disk.sync_fails", found).because(error.to_string()).fix(
                "look into the log of the system for errors of the disk, and whether it is full",
            );
        }
    };
    times.sort_unstable();
    let median = times[SYNCS / 2];
    let shown = format!("{} µs", median.as_micros());
    if median >= LEAST_SYNC {
        return Finding::ok("disk.sync", format!("a sync takes {shown}"));
    }
    Finding::fail("disk.sync_too_fast", format!("a sync returns after {shown}"))
        .because("that is too fast to have reached a device: what was acknowledged is lost when the power is cut")
        .fix(
            "put the inbox on a disk whose syncs are real: no memory, no `libeatmydata`, no `sync=disabled`, no virtual \
             disk with the cache mode `unsafe`",
        )
}

#[cfg(unix)]
fn rights(folder: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;

    use crate::text::command::quoted;

    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;

    let mode = folder.metadata().ok()?.permissions().mode();
    let is_open = mode & OTHERS_WRITE != 0 && mode & STICKY == 0;
    is_open.then(|| {
        let folder = folder.display();
        Finding::warn("disk.folder_open_to_others", format!("all users may write to {folder}"))
            .because("each of them can replace or remove the inbox")
            .fix(format!("chmod o-w {}", quoted(&folder.to_string())))
    })
}

#[cfg(unix)]
fn free_space(folder: &Path) -> Option<Finding> {
    /// With less than this, deliveries are soon refused.
    const LITTLE: u64 = 1 << 30;
    /// With less than this, the log of the inbox has no room for a day.
    const TOO_LITTLE: u64 = 64 << 20;

    let system = rustix::fs::statvfs(folder).ok()?;
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    let found = format!("{} MiB are free", free >> 20);
    let finding = match free {
        LITTLE.. => return Some(Finding::ok("disk.space", found)),
        TOO_LITTLE.. => Finding::warn("disk.little_space", found),
        _ => Finding::fail("disk.little_space", found),
    };
    let finding = finding.because("a full disk stores no delivery, and each is answered 503");
    Some(finding.fix("make room, move the inbox to a larger disk, or shorten its retention"))
}

/// Whether every user of the machine can read or change a file with a secret, which `what` names.
#[cfg(unix)]
pub(super) fn open_to_others(code: &'static str, what: &str, path: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;

    use crate::text::command::quoted;

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
