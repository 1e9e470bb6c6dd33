use std::path::Path;

use crate::Error;

/// Refuses a network file system: its locks and syncs are not reliable enough.
#[cfg(target_os = "linux")]
pub(in crate::store::sqlite) fn check_local(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let Ok(system) = rustix::fs::statfs(folder) else {
        return Ok(());
    };
    #[allow(clippy::unnecessary_cast, reason = "the type differs between processors")]
    match network(system.f_type as i64) {
        Some(name) => Err(on_network(path, name)),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(in crate::store::sqlite) fn check_local(_: &Path) -> Result<(), Error> {
    Ok(())
}

#[cfg(any(target_os = "linux", test))]
fn on_network(path: &Path, name: &str) -> Error {
    Error::unusable(format!(
        "{} lies on a network file system ({name}), whose locks and syncs cannot be relied on: put it on a disk of this machine",
        path.display()
    ))
}

/// The name of a network file system. The numbers are those of `statfs(2)`; where they have 32 bits, the larger ones are
/// negative.
#[cfg(any(target_os = "linux", test))]
fn network(magic: i64) -> Option<&'static str> {
    match magic & 0xFFFF_FFFF {
        0x6969 => Some("NFS"),
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x00C3_6400 => Some("Ceph"),
        0x5346_414F | 0x6B41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        _ => None,
    }
}

/// Why a file with this path, which need not exist, may be lost although the disk is well: a sentence without its subject, and what
/// to do.
#[cfg(target_os = "linux")]
pub(in crate::store::sqlite) fn easily_lost(path: &Path) -> Option<&'static str> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statfs, statx};

    // A file that does not exist is none. Its folder is not asked: a volume is mounted, too.
    let file = statx(CWD, path, AtFlags::empty(), StatxFlags::INO);
    if file.is_ok_and(|file| file.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)) {
        return Some(SINGLE_FILE);
    }
    let system = statfs(path.parent().unwrap_or(path)).ok()?;
    #[allow(clippy::unnecessary_cast, reason = "the type differs between processors")]
    why_easily_lost(system.f_type as i64)
}

#[cfg(not(target_os = "linux"))]
pub(in crate::store::sqlite) fn easily_lost(_: &Path) -> Option<&'static str> {
    None
}

#[cfg(any(target_os = "linux", test))]
const SINGLE_FILE: &str = "is mounted as a single file, and the files beside it are lost with the container: mount its folder";

/// The one of these places that may be a good one.
pub(super) const ON_FUSE: &str = "is on FUSE or virtiofs, which may report a sync that did not happen, and may have no locks between \
    machines: put it on a disk of this machine";

/// The same for the number of a file system, as above.
#[cfg(any(target_os = "linux", test))]
fn why_easily_lost(magic: i64) -> Option<&'static str> {
    match magic & 0xFFFF_FFFF {
        0x0102_1994 | 0x8584_58F6 => {
            Some("is in memory, and lost when the machine or the container stops: put it on a disk")
        }
        0x794C_7630 => {
            Some("is in a container's own layer, and lost with the container: put it on a volume")
        }
        0x6573_5546 => Some(ON_FUSE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_known_by_their_numbers() {
        const EXT4: i64 = 0xEF53;
        const TMPFS: i64 = 0x0102_1994;
        const FUSE: i64 = 0x6573_5546;
        assert_eq!(network(0x6969), Some("NFS"));
        assert_eq!(network(i64::from(0xFF53_4D42_u32.cast_signed())), Some("SMB"));
        assert_eq!([EXT4, TMPFS, FUSE].map(network), [None; 3]);
        let starts = |magic| why_easily_lost(magic).map(|why| why.split(',').next());
        assert_eq!(starts(TMPFS), Some(Some("is in memory")));
        assert_eq!(starts(0x794C_7630), Some(Some("is in a container's own layer")));
        assert_eq!(starts(FUSE), Some(Some("is on FUSE or virtiofs")));
        assert_eq!(starts(EXT4), None);
    }

    #[test]
    fn a_network_file_system_is_refused_by_name() {
        assert_eq!(
            on_network(Path::new("/mnt/inbox.db"), "NFS").to_string(),
            "/mnt/inbox.db lies on a network file system (NFS), whose locks and syncs cannot be relied on: put it on \
             a disk of this machine"
        );
    }
}
