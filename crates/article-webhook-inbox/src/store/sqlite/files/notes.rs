use std::{
    fs::{File, OpenOptions},
    io,
    ops::Range,
    path::Path,
};

use super::{
    database_file::with_suffix,
    identity::{identity, of_metadata},
    positioned::{read_at, write_at},
};
use crate::Digest;

/// What a receiver leaves in the lock file for tools and for the next receiver. Each note has its room in the file from the start,
/// so that a full disk hinders none. Nothing is synced.
#[derive(Debug)]
pub(in crate::store::sqlite) struct Notes(File);

/// A note. It replaces the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::sqlite) enum Note {
    /// Why nothing can be committed.
    Failure,
    /// The jobs that are expected, and that the database has not accepted yet.
    Jobs,
}

/// Before a note: its length, and the beginning of its SHA-256.
const HEADER_BYTES: usize = 16;

const END: usize = 260 << 10;

impl Note {
    fn range(self) -> Range<usize> {
        match self {
            Self::Failure => 1 << 10..4 << 10,
            Self::Jobs => 4 << 10..END,
        }
    }

    /// How long it can be, in bytes.
    pub(in crate::store::sqlite) fn room(self) -> usize {
        let Range { start, end } = self.range();
        end - start - HEADER_BYTES
    }
}

impl Notes {
    /// The notes in a lock file that is locked. Makes the file as long as it must be.
    pub(super) fn of_owner(lock: &File) -> io::Result<Self> {
        let length = lock.metadata()?.len();
        let missing = END.saturating_sub(usize::try_from(length).unwrap_or(END));
        write_at(lock, length, &vec![0; missing])?;
        Ok(Self(lock.try_clone()?))
    }

    /// The notes beside a database, to be read. `None` if there are none.
    pub(in crate::store::sqlite) fn beside(path: &Path) -> Option<Self> {
        OpenOptions::new().read(true).open(with_suffix(path, "-lock")).ok().map(Self)
    }

    /// Whether the next receiver finds them: the lock file may have been removed or replaced.
    pub(in crate::store::sqlite) fn are_beside(&self, path: &Path) -> bool {
        let open = self.0.metadata().ok().as_ref().and_then(of_metadata);
        identity(&with_suffix(path, "-lock")) == open
    }

    /// Replaces a note. One that has no room is refused.
    pub(in crate::store::sqlite) fn write(&self, note: Note, text: &[u8]) -> io::Result<()> {
        if text.len() > note.room() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = (text.len() as u64).to_be_bytes().to_vec();
        bytes.extend(&Digest::of(text).as_bytes()[..8]);
        bytes.extend(text);
        // Nothing is left of what is erased.
        let before = self.read(note).len() + HEADER_BYTES;
        bytes.resize(bytes.len().max(before), 0);
        write_at(&self.0, note.range().start as u64, &bytes)
    }

    /// The text of a note; empty if there is none that can be read.
    pub(in crate::store::sqlite) fn read(&self, note: Note) -> Vec<u8> {
        self.try_read(note).unwrap_or_default()
    }

    fn try_read(&self, note: Note) -> io::Result<Vec<u8>> {
        let start = note.range().start as u64;
        let (mut length, mut check) = ([0; 8], [0; 8]);
        read_at(&self.0, start, &mut length)?;
        read_at(&self.0, start + 8, &mut check)?;
        let length = usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX);
        let mut text = vec![0; length.min(note.room())];
        read_at(&self.0, start + HEADER_BYTES as u64, &mut text)?;
        let is_whole = Digest::of(&text).as_bytes()[..8] == check;
        Ok(if is_whole { text } else { Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_with_a_flipped_bit_is_none() {
        let file = tempfile::tempfile().unwrap();
        let notes = Notes::of_owner(&file).unwrap();
        notes.write(Note::Jobs, b"job_1").unwrap();
        let at = Note::Jobs.range().start + HEADER_BYTES;
        write_at(&file, at as u64, b"i").unwrap();
        assert_eq!(notes.read(Note::Jobs), b"");
    }
}
