//! What may be on a disk after a power cut.

use std::{collections::HashMap, fs, io, path::Path};

use fastrand::Rng;

use crate::recording::{Change, Moment, Recording, Span, Sync, What};

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// A disk under a recording. Cuts are made in the order of their moments, so that what is certain is applied once.
pub(crate) struct Disk<'a> {
    recording: &'a Recording,
    files: Vec<Certain>,
}

/// The part of a file that is certainly there.
#[derive(Clone, Default)]
struct Certain {
    bytes: Vec<u8>,
    /// How many changes are in it.
    changes: usize,
}

/// How much of what was not synced reached the disk.
#[derive(Debug, Clone, Copy)]
enum Luck {
    None,
    All,
    /// All up to a point, where one write is torn.
    Prefix,
    /// Each write by itself, in order.
    Some,
    /// Each write by itself, in any order, torn between sectors.
    Torn,
}

impl Luck {
    const EVERY: [Self; 5] = [Self::None, Self::All, Self::Prefix, Self::Some, Self::Torn];
}

impl<'a> Disk<'a> {
    pub(crate) fn new(recording: &'a Recording) -> Self {
        Self { recording, files: vec![Certain::default(); recording.files.len()] }
    }

    /// Writes the files into an empty folder as they may be after a cut at this moment.
    pub(crate) fn cut(&mut self, moment: Moment, rng: &mut Rng, folder: &Path) -> io::Result<()> {
        let luck = Luck::EVERY[rng.usize(..Luck::EVERY.len())];
        for (name, file) in self.names(moment, luck, rng) {
            fs::write(folder.join(name), self.file(file, moment, luck, rng))?;
        }
        Ok(())
    }

    /// Which name leads to which file. Changes to a folder that was not synced are as uncertain as others.
    fn names(&self, moment: Moment, luck: Luck, rng: &mut Rng) -> HashMap<&'a str, usize> {
        let syncs = &self.recording.folder_syncs;
        let mut names = HashMap::new();
        for naming in &self.recording.names {
            if naming.span.start >= moment
                || !is_certain(naming.span, syncs, moment) && !luck.keeps(rng)
            {
                continue;
            }
            match naming.file {
                Some(file) => names.insert(naming.name.as_str(), file),
                None => names.remove(naming.name.as_str()),
            };
        }
        names
    }

    fn file(&mut self, file: usize, moment: Moment, luck: Luck, rng: &mut Rng) -> Vec<u8> {
        let changes = &self.recording.files[file].changes;
        let is_certain =
            |change: &Change| is_certain(change.span, &self.recording.files[file].syncs, moment);
        let certain = &mut self.files[file];
        while let Some(change) = changes.get(certain.changes).filter(|change| is_certain(change)) {
            apply(&mut certain.bytes, &change.what);
            certain.changes += 1;
        }
        let mut bytes = certain.bytes.clone();
        let begun = |change: &&Change| change.span.start < moment;
        let mut uncertain: Vec<_> = changes[certain.changes..].iter().take_while(begun).collect();
        // What a failed sync left behind stands before what a later one has written: that order is kept.
        let free =
            uncertain.iter().rposition(|change| is_certain(change)).map_or(0, |last| last + 1);
        match luck {
            Luck::Prefix => uncertain.truncate(rng.usize(free..=uncertain.len())),
            Luck::Torn if rng.bool() => rng.shuffle(&mut uncertain[free..]),
            Luck::None | Luck::All | Luck::Some | Luck::Torn => {}
        }
        let last = uncertain.len().saturating_sub(1);
        for (nth, change) in uncertain.into_iter().enumerate() {
            let is_torn = match luck {
                Luck::Torn => rng.bool(),
                Luck::Prefix => nth == last,
                Luck::None | Luck::All | Luck::Some => false,
            };
            if is_certain(change) {
                apply(&mut bytes, &change.what);
            } else if is_torn {
                tear(&mut bytes, &change.what, rng);
            } else if luck.keeps(rng) {
                apply(&mut bytes, &change.what);
            } else {
                grow(&mut bytes, &change.what, rng);
            }
        }
        bytes
    }
}

impl Luck {
    fn keeps(self, rng: &mut Rng) -> bool {
        match self {
            Self::None => false,
            Self::All | Self::Prefix => true,
            Self::Some | Self::Torn => rng.bool(),
        }
    }
}

/// Whether a sync wrote what had changed by then, and had ended; and none had failed before, which lets it go.
fn is_certain(change: Span, syncs: &[Sync], moment: Moment) -> bool {
    let mut after = syncs.iter().filter(|sync| sync.span.start > change.end);
    let wrote = after.clone().find(|sync| !sync.failed && sync.span.end < moment);
    wrote.is_some_and(|wrote| !after.any(|sync| sync.failed && sync.span.start < wrote.span.start))
}

fn apply(bytes: &mut Vec<u8>, what: &What) {
    match what {
        What::Cut { length } => bytes.resize(*length, 0),
        What::Written { offset, bytes: written } => {
            let end = offset + written.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*offset..end].copy_from_slice(written);
        }
    }
}

/// Only some of the sectors of a write reach the disk.
fn tear(bytes: &mut Vec<u8>, what: &What, rng: &mut Rng) {
    let What::Written { offset, bytes: written } = what else { return };
    let mut start = 0;
    while start < written.len() {
        let to_the_next = SECTOR - (offset + start) % SECTOR;
        let end = written.len().min(start + to_the_next);
        if rng.bool() {
            let piece = written[start..end].to_vec();
            apply(bytes, &What::Written { offset: offset + start, bytes: piece });
        }
        start = end;
    }
}

/// The new length of a file may reach the disk without what was written there.
fn grow(bytes: &mut Vec<u8>, what: &What, rng: &mut Rng) {
    let What::Written { offset, bytes: written } = what else { return };
    if rng.bool() {
        bytes.resize(bytes.len().max(offset + written.len()), 0);
    }
}
