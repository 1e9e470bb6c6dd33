//! The folder in which a new database is made, before it gets its name.

use std::{
    fs::{self, DirBuilder, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    Error,
    store::sqlite::files::{positioned::read_at, private, with_suffix},
};

/// A disk loses a sector of this size, and what is beside it can still be read.
const SECTOR: usize = 4096;

/// A folder that its owner alone can enter. It is removed with what is in it.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder beside the place of the database.
    pub(super) fn beside(place: &Path) -> Result<Self, Error> {
        let path = with_suffix(place, "-unfinished");
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut folder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        match folder.create(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::unusable(format!(
                    "{} exists, because another salvage, backup or restore runs or was interrupted: wait for its end, or remove that \
                 folder",
                    path.display()
                )))
            }
            Err(error) => Err(Error::unusable(format!(
                "the folder {} cannot be made: let this process write beside it",
                path.display()
            ))
            .because(error)),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Moves these parts of a database that was made in the folder to its place.
    pub(super) fn move_out(&self, made: &Path, place: &Path, parts: &[&str]) -> Result<(), Error> {
        let moved = parts
            .iter()
            .try_for_each(|part| fs::rename(with_suffix(made, part), with_suffix(place, part)))
            .and_then(|()| sync_folder_of(place));
        moved.map_err(|error| cannot_be_written(place, error))
    }

    /// Copies a file. A sector that cannot be read becomes zeros, and what is in it is lost.
    pub(super) fn copy(&self, from: &Path, name: &str) -> Result<PathBuf, Error> {
        let to = self.path(name);
        let copy = || {
            let (source, target) = (File::open(from)?, private().create_new(true).open(&to)?);
            copy_sectors(
                source.metadata()?.len(),
                &mut |at, sector| read_at(&source, at, sector),
                target,
            )
        };
        copy().map_err(|error| {
            let from = from.display();
            let says = format!("{from} cannot be copied to {}: look at both disks", to.display());
            Error::unavailable(says).because(error)
        })?;
        Ok(to)
    }
}

/// Refuses a new database whose name, or that of a file beside it, is taken.
pub(super) fn ensure_new(new: &Path) -> Result<(), Error> {
    let parts = ["", "-wal", "-shm", "-journal", "-lock"].map(|part| with_suffix(new, part));
    match parts.iter().find(|part| part.symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(there) => Err(Error::unusable(format!("{} exists: name a new file", there.display()))),
    }
}

/// Makes what was renamed in the folder of a file last.
pub(super) fn sync_folder_of(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

pub(super) fn cannot_be_written(path: &Path, error: io::Error) -> Error {
    let says = format!("{} cannot be written: look at the disk", path.display());
    Error::unavailable(says).because(error)
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy_sectors(
    length: u64,
    read: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>,
    mut to: impl io::Write,
) -> io::Result<()> {
    let mut at = 0;
    while at < length {
        let mut sector = [0; SECTOR];
        let rest = usize::try_from(length - at).unwrap_or(SECTOR).min(SECTOR);
        if read(at, &mut sector[..rest]).is_err() {
            sector.fill(0);
        }
        to.write_all(&sector[..rest])?;
        at += rest as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_that_cannot_be_read_costs_itself_alone() {
        let (mut copied, length) = (Vec::new(), SECTOR * 3 + 10);
        let mut read = |at: u64, sector: &mut [u8]| {
            sector.fill(7);
            if at == SECTOR as u64 { Err(io::Error::other("a dead sector")) } else { Ok(()) }
        };
        copy_sectors(length as u64, &mut read, &mut copied).unwrap();
        let mut expected = vec![7; length];
        expected[SECTOR..2 * SECTOR].fill(0);
        assert!(copied == expected);
    }
}
