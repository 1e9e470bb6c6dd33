use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use crate::store::sqlite::files::with_suffix;

/// Bytes of the log's header, and of the header of each frame.
pub(in crate::store::sqlite) const HEADER: usize = 32;
pub(in crate::store::sqlite) const FRAME_HEADER: usize = 24;

/// What SQLite will not read of a log, as a finding; `None` if it reads all of it.
///
/// SQLite ends the recovery of a log at the first frame whose checksum is wrong, and silently erases the commits after
/// it. That is right for a commit that was cut off, because nothing of it was acknowledged. After damage, it erases
/// commits that were acknowledged. Only the log itself shows the difference, and only before the database is opened.
pub(in crate::store::sqlite) fn unreadable(database: &Path) -> Option<String> {
    let log = with_suffix(database, "-wal");
    // A log is regular, or SQLite does not open it either. SQLite holds no lock on it that closing could release.
    if !log.symlink_metadata().is_ok_and(|log| log.is_file()) {
        return None;
    }
    let lost =
        File::open(&log).and_then(|file| unreadable_commits(BufReader::new(file))).ok()??;
    let commits =
        if lost == 1 { "1 commit".to_owned() } else { format!("at least {lost} commits") };
    Some(format!(
        "the log {} cannot be read to its end, and {commits} in it are lost: if the power failed during a commit, \
         nothing acknowledged is missing; otherwise collect the latest jobs again, or compare with a backup",
        log.display()
    ))
}

/// How many commits are in a log behind its first unreadable frame. `None` if everything can be read.
fn unreadable_commits(mut log: impl Read) -> io::Result<Option<u64>> {
    let mut header = [0; HEADER];
    if !filled(&mut log, &mut header)? {
        return Ok(None);
    }
    let mut checksum = Checksum::new(word(&header, 0));
    checksum.add(&header[..24]);
    if !is_sound(&header) {
        let mut rest = Vec::new();
        log.read_to_end(&mut rest)?;
        let commits = |page| commits(&salts(&header, 16), rest.chunks_exact(FRAME_HEADER + page));
        let commits = (9..=16).map(|power| commits(1 << power)).max();
        return Ok(commits.filter(|commits| *commits > 0));
    }

    let page = word(&header, 8) as usize;
    let mut frame = vec![0; FRAME_HEADER + page];
    let mut lost = None;
    while filled(&mut log, &mut frame)? {
        if lost.is_none() {
            checksum.add(&frame[..8]);
            checksum.add(&frame[FRAME_HEADER..]);
            let is_sound = word(&frame, 0) > 0
                && salts(&frame, 8) == salts(&header, 16)
                && checksum.is(word(&frame, 16), word(&frame, 20));
            if is_sound {
                continue;
            }
        }
        lost = Some(lost.unwrap_or(0) + commits(&salts(&header, 16), [&*frame]));
    }
    Ok(lost.filter(|lost| *lost > 0))
}

/// Whether SQLite reads a log that begins with this header.
pub(in crate::store::sqlite) fn is_sound(header: &[u8; HEADER]) -> bool {
    let mut checksum = Checksum::new(word(header, 0));
    checksum.add(&header[..24]);
    word(header, 0) >> 1 == MAGIC >> 1
        && word(header, 4) == VERSION
        && checksum.is(word(header, 24), word(header, 28))
}

/// How many of these frames end a commit of the log with these salts. One flipped bit leaves one of the salts intact.
/// Frames that an earlier use of the file left behind have two others.
fn commits<'a>(log: &[u32; 2], frames: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let is_commit = |frame: &&[u8]| {
        let salts = salts(frame, 8);
        word(frame, 4) > 0 && (salts[0] == log[0] || salts[1] == log[1])
    };
    frames.into_iter().filter(is_commit).count() as u64
}

pub(in crate::store::sqlite) const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;

pub(in crate::store::sqlite) fn salts(bytes: &[u8], at: usize) -> [u32; 2] {
    [word(bytes, at), word(bytes, at + 4)]
}

pub(in crate::store::sqlite) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Fills the whole buffer. `false` at the end of the file.
pub(in crate::store::sqlite) fn filled(
    file: &mut impl Read,
    buffer: &mut [u8],
) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The checksum of SQLite's logs, over everything from the beginning of the log.
pub(in crate::store::sqlite) struct Checksum {
    words: fn([u8; 4]) -> u32,
    pub(in crate::store::sqlite) sums: [u32; 2],
}

impl Checksum {
    /// The checksum of a log whose header begins with this word. Its last bit is the order of the bytes.
    pub(in crate::store::sqlite) fn new(magic: u32) -> Self {
        let words = if magic & 1 == 1 { u32::from_be_bytes } else { u32::from_le_bytes };
        Self { words, sums: [0, 0] }
    }

    pub(in crate::store::sqlite) fn add(&mut self, bytes: &[u8]) {
        let [mut one, mut two] = self.sums;
        for pair in bytes.chunks_exact(8) {
            let words =
                |at: usize| (self.words)([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]);
            one = one.wrapping_add(words(0)).wrapping_add(two);
            two = two.wrapping_add(words(4)).wrapping_add(one);
        }
        self.sums = [one, two];
    }

    fn is(&self, one: u32, two: u32) -> bool {
        self.sums == [one, two]
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// A log of five commits.
    fn log() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (b)").unwrap();
        for number in 0..4 {
            connection.execute("INSERT INTO a VALUES (?1)", [number]).unwrap();
        }
        std::fs::read(with_suffix(&path, "-wal")).unwrap()
    }

    const FRAME: usize = FRAME_HEADER + 4096;

    fn lost(log: &[u8]) -> Option<u64> {
        unreadable_commits(log).unwrap()
    }

    #[test]
    fn a_flipped_bit_loses_its_commit_and_all_after_it() {
        let sound = log();
        assert_eq!([lost(&sound), lost(b"")], [None; 2]);
        let last = sound.len() - FRAME;
        for at in [0, 4, 8, 12, 16, 20, FRAME_HEADER, FRAME - 1] {
            let mut log = sound.clone();
            log[last + at] ^= 1 << 3;
            assert_eq!(lost(&log), Some(1), "byte {at} of the last frame");
            let mut log = sound.clone();
            log[last - FRAME + at] ^= 1 << 3;
            assert_eq!(lost(&log), Some(2), "byte {at} of the frame before it");
        }
        for at in 0..HEADER {
            let mut log = sound.clone();
            log[at] ^= 1;
            assert_eq!(lost(&log), Some(5), "byte {at} of the header");
        }
    }

    #[test]
    fn what_a_crash_leaves_is_no_damage() {
        let mut log = log();
        // A commit that was cut off in the middle of a frame.
        log.truncate(log.len() - 100);
        assert_eq!(lost(&log), None);
        // The log was restarted, and frames of its earlier use follow.
        let old = log[HEADER..HEADER + FRAME].to_vec();
        let sound = log.len() - log.len() % FRAME + HEADER;
        log.truncate(sound);
        log.extend(old.iter().map(|byte| byte.wrapping_add(1)));
        assert_eq!(lost(&log), None);
    }
}
