//! A copied log, and its pages in a copied database.
//!
//! SQLite ends the replay of a log at the first frame that it cannot read. Behind such a break, the checksum of each frame is
//! computed from the one that its predecessor has stored, so that the damage of one frame spoils no other.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom},
    path::Path,
};

use crate::store::sqlite::{
    damage::wal_scan::{Checksum, FRAME_HEADER, HEADER, MAGIC, filled, is_sound, salts, word},
    files::positioned::{read_at, write_at},
};

/// The frames of a log.
pub(super) struct Log {
    file: File,
    page: usize,
    frames: Vec<Frame>,
}

struct Frame {
    /// The page of the database.
    page: u32,
    ends_commit: bool,
    link: Link,
}

/// How far a frame can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// SQLite reads it too.
    Sound,
    /// The frame is behind a break, and its own checksum is right.
    Resumed,
    /// The checksum of the frame is wrong.
    Broken,
    /// The frame is of an earlier use of the file, or cannot be distinguished from one that is.
    Foreign,
}

/// Which frames are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commits {
    /// What SQLite replays.
    Sound,
    /// Commits behind a break of which each frame has its right checksum.
    BehindBreak,
    /// Every frame of the log, whether its checksum is right or not.
    Any,
}

impl Log {
    /// Reads a log. The size of a page is that of the database, if the log does not say it.
    pub(super) fn read(path: &Path, page: usize) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut header = [0; HEADER];
        if !filled(&mut file, &mut header)? {
            return Ok(Self { file, page, frames: Vec::new() });
        }
        if is_sound(&header) {
            let page = word(&header, 8) as usize;
            let frames = frames(&mut file, &header, word(&header, 0), page)?;
            return Ok(Self { file, page, frames });
        }
        // The order of the bytes is not known either.
        let little = frames(&mut file, &header, MAGIC, page)?;
        let big = frames(&mut file, &header, MAGIC | 1, page)?;
        let resumed =
            |frames: &[Frame]| frames.iter().filter(|it| it.link == Link::Resumed).count();
        let frames = if resumed(&big) > resumed(&little) { big } else { little };
        Ok(Self { file, page, frames })
    }

    /// Whether SQLite leaves out a commit of this log.
    pub(super) fn has_break(&self) -> bool {
        let is_left_out =
            |frame: &Frame| frame.ends_commit && matches!(frame.link, Link::Resumed | Link::Broken);
        self.frames.iter().any(is_left_out)
    }

    /// The size of the pages.
    pub(super) fn page(&self) -> usize {
        self.page
    }

    /// Writes pages of the log to a database, in the order of the commits.
    pub(super) fn replay(&self, commits: Commits, database: &File) -> io::Result<()> {
        let end = database.metadata()?.len() / self.page as u64 + self.frames.len() as u64;
        let mut first = 0;
        for index in 0..self.frames.len() {
            let is_end = self.frames[index].ends_commit || commits == Commits::Any;
            if !is_end {
                continue;
            }
            let commit = first..index + 1;
            first = index + 1;
            let links = || self.frames[commit.clone()].iter().map(|frame| frame.link);
            let is_sound = links().all(|link| link == Link::Sound);
            let is_whole = links().all(|link| matches!(link, Link::Sound | Link::Resumed));
            let is_meant = match commits {
                Commits::Sound => is_sound,
                Commits::BehindBreak => is_whole && !is_sound,
                Commits::Any => !links().any(|link| link == Link::Foreign),
            };
            if is_meant {
                for frame in commit {
                    self.write(frame, end, database)?;
                }
            }
        }
        Ok(())
    }

    fn write(&self, frame: usize, end: u64, database: &File) -> io::Result<()> {
        let number = u64::from(self.frames[frame].page);
        if number == 0 || number > end {
            return Ok(());
        }
        let mut page = vec![0; self.page];
        let at = HEADER + frame * (FRAME_HEADER + self.page) + FRAME_HEADER;
        read_at(&self.file, at as u64, &mut page)?;
        write_at(database, (number - 1) * self.page as u64, &page)
    }
}

fn frames(
    file: &mut File,
    header: &[u8; HEADER],
    magic: u32,
    page: usize,
) -> io::Result<Vec<Frame>> {
    file.seek(SeekFrom::Start(HEADER as u64))?;
    let mut file = io::BufReader::new(file);
    let mut computed = Checksum::new(magic);
    computed.add(&header[..24]);
    // The checksum before a frame, as it is stored there, and as it is computed: one of them is right, unless more is damaged.
    let mut before = [salts(header, 24), computed.sums];
    let mut of_log = is_sound(header).then(|| salts(header, 16));
    let mut is_unbroken = of_log.is_some();
    let (mut frames, mut bytes) = (Vec::new(), vec![0; FRAME_HEADER + page]);
    while filled(&mut file, &mut bytes)? {
        let (stored, salt) = (salts(&bytes, 16), salts(&bytes, 8));
        let sums = before.map(|sums| {
            let mut checksum = Checksum::new(magic);
            checksum.sums = sums;
            checksum.add(&bytes[..8]);
            checksum.add(&bytes[FRAME_HEADER..]);
            checksum.sums
        });
        let is_right = sums.contains(&stored) && word(&bytes, 0) > 0;
        if is_right {
            of_log.get_or_insert(salt);
        }
        // No checksum covers the salts: damage leaves at least one of them.
        let is_ours = of_log.is_none_or(|log| log[0] == salt[0] || log[1] == salt[1]);
        is_unbroken &= is_right && of_log == Some(salt);
        let link = match (is_ours, is_right) {
            (false, _) => Link::Foreign,
            (true, false) => Link::Broken,
            (true, true) if is_unbroken => Link::Sound,
            (true, true) => Link::Resumed,
        };
        frames.push(Frame { page: word(&bytes, 0), ends_commit: word(&bytes, 4) > 0, link });
        before = [stored, if is_right { stored } else { sums[0] }];
    }
    Ok(frames)
}
