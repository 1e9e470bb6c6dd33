//! The damages.

use super::base::{Base, ENDINGS, Files};

const SECTOR: usize = 4096;

/// One damage of one file of a base.
pub(super) struct Damage {
    pub(super) base: usize,
    /// Its index among the endings.
    file: usize,
    at: usize,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Zeroed,
    Noise,
    Bit,
    CutShort,
}

impl Damage {
    pub(super) fn damaged(&self, base: &Base) -> Files {
        let mut files = base.files.clone();
        let bytes = &mut files.0[self.file];
        let end = bytes.len().min(self.at + SECTOR);
        match self.what {
            What::Zeroed => bytes[self.at..end].fill(0),
            What::Noise => fastrand::Rng::with_seed(self.at as u64).fill(&mut bytes[self.at..end]),
            What::Bit => bytes[self.at] ^= 1 << (self.at % 8),
            What::CutShort => bytes.truncate(self.at),
        }
        files
    }

    /// Whether so much is gone that tables and indexes may lose the same rows: the end of a file, or a part of two pages of
    /// one commit in the log. Then what is lost may have no name.
    pub(super) fn is_large(&self) -> bool {
        match self.what {
            What::CutShort => true,
            What::Zeroed | What::Noise => self.file == 1,
            What::Bit => false,
        }
    }

    pub(super) fn shown(&self, bases: &[Base]) -> String {
        let (base, file) = (bases[self.base].name, ENDINGS[self.file]);
        format!("{base}, inbox.db{file}, byte {}: {:?}", self.at, self.what)
    }
}

/// How many damages are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Short,
    Long,
}

/// Every damage, or a part of each kind.
pub(super) fn all(bases: &[Base], form: Form) -> Vec<Damage> {
    let is_long = form == Form::Long;
    let mut damages = Vec::new();
    for (base, of) in bases.iter().enumerate() {
        for (file, bytes) in of.files.0[..2].iter().enumerate() {
            let mut add = |at, what| damages.push(Damage { base, file, at, what });
            // In the short form, sectors of the file without a log take turns.
            let step = match (base, file) {
                _ if is_long => 1,
                (0, 0) => 1,
                (1, 0) => 8,
                _ => 64,
            };
            for (number, at) in (0..bytes.len()).step_by(SECTOR * step).enumerate() {
                if is_long || number % 2 == 0 {
                    add(at, What::Zeroed);
                }
                if is_long || number % 2 == 1 {
                    add(at, What::Noise);
                }
                if at > 0 && (is_long || number % 16 == 4) {
                    add(at, What::CutShort);
                }
            }
            // A log ends between what was delivered and what was done.
            if (base, file) == (1, 1) {
                (1..10).for_each(|tenth| add(bytes.len() * tenth / 10, What::CutShort));
            }
            let bits = match file {
                0 => 0,
                _ if is_long => 2000,
                _ => 10 * base,
            };
            (0..bits.min(bytes.len())).for_each(|bit| add(bytes.len() * bit / bits, What::Bit));
        }
    }
    damages
}
