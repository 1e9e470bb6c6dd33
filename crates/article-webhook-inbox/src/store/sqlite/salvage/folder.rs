//! The folder in which a salvage works on copies.

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
    /// Makes the folder of a new database.
    pub(super) fn beside(new: &Path) -> Result<Self, Error> {
        let path = with_suffix(new, "-salvage");
        let mut folder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        match folder.create(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(Error::unusable(format!(
                "the folder {} cannot be made: let this process write beside it; if it is there, another salvage runs or was \
                 interrupted: wait, or remove it",
                path.display()
            ))
            .because(error)),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
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
