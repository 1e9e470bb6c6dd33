//! The damages: bits and pages in every kind of page of the files, and sectors from end to end.

use std::{collections::BTreeMap, fmt, ops::Range};

use rusqlite::Connection;

use super::base::{self, Base, ENDINGS, Files};

const SECTOR: usize = 4096;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Short,
    Long,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// One bit is flipped.
    Bit(u8),
    /// The sector is zeros.
    Zeroed,
    /// The sector is anything.
    Noise,
    /// One half of the page is that of the next page.
    Torn,
    /// The file ends here.
    CutShort,
}

/// One damage of one file of a base.
pub(super) struct Damage {
    pub(super) base: usize,
    name: &'static str,
    /// The kind of the page.
    pub(super) kind: String,
    /// Its index among the endings.
    file: usize,
    /// The page, or the sector.
    part: Range<usize>,
    at: usize,
    what: What,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, file, at, what, .. } = self;
        write!(f, "{name}, {kind}, inbox.db{}, byte {at}: {what:?}", ENDINGS[*file])
    }
}

impl Damage {
    pub(super) fn damaged(&self, base: &Base) -> Files {
        let mut files = base.files.clone();
        let bytes = &mut files.0[self.file];
        let sector = self.at - self.at % SECTOR;
        let sector = sector..bytes.len().min(sector + SECTOR);
        match self.what {
            What::Bit(bit) => bytes[self.at] ^= 1 << bit,
            What::Zeroed => bytes[sector].fill(0),
            What::Noise => fastrand::Rng::with_seed(self.at as u64).fill(&mut bytes[sector]),
            What::Torn => {
                let half = self.part.len() / 2;
                let next = if self.part.end < bytes.len() { self.part.end } else { 0 };
                let torn: Vec<_> = bytes[next..].iter().take(half).copied().collect();
                bytes[self.part.start..][..torn.len()].copy_from_slice(&torn);
            }
            What::CutShort => bytes.truncate(self.at),
        }
        files
    }

    /// Whether so much is gone that tables and indexes may lose the same rows: the end of a file, or parts of two pages of one
    /// commit in the log. Then what is lost may have no name.
    pub(super) fn is_large(&self) -> bool {
        match self.what {
            What::Bit(_) => false,
            What::CutShort => true,
            What::Zeroed | What::Noise | What::Torn => self.file == 1,
        }
    }
}

/// This many spots. Each kind of page gets as many as any other, and its pages take turns.
pub(super) fn spots(bases: &[Base], form: Form, (count, seed): (usize, u64)) -> Vec<Damage> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut kinds = Vec::new();
    for (number, base) in bases.iter().enumerate() {
        for (kind, mut parts) in parts(base) {
            random.shuffle(&mut parts);
            kinds.push((number, kind, parts));
        }
    }
    (0..count)
        .map(|number| {
            let (base, kind, parts) = &kinds[number % kinds.len()];
            let (file, part) = parts[number / kinds.len() % parts.len()].clone();
            // One spot in five is a whole sector or page, if that is asked for.
            let is_whole = form == Form::Long && number % 5 == 0 && part.len() >= 512;
            let what = match random.choice([What::Zeroed, What::Noise, What::Torn]) {
                Some(what) if is_whole => what,
                _ => What::Bit(random.u8(..8)),
            };
            let (name, kind) = (bases[*base].name, kind.clone());
            let at = byte(&bases[*base].files.0[file], &part, &mut random);
            Damage { base: *base, name, kind, file, part, at, what }
        })
        .collect()
}

/// A byte of a part. Most are bytes that hold something.
fn byte(bytes: &[u8], part: &Range<usize>, random: &mut fastrand::Rng) -> usize {
    let used: Vec<_> = part.clone().filter(|byte| bytes[*byte] != 0).collect();
    match random.choice(used) {
        Some(byte) if random.u8(..4) > 0 => byte,
        _ => random.usize(part.clone()),
    }
}

/// The pages of a base, by kind: each with the index of its file.
fn parts(base: &Base) -> BTreeMap<String, Vec<(usize, Range<usize>)>> {
    let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut add = |kind: &str, file, bytes| {
        kinds.entry(kind.to_owned()).or_default().push((file, bytes));
    };
    let [database, log, _] = &base.files.0;
    let known = kinds_of_pages(database);
    add("header", 0, 0..100);
    for (number, start) in (1..).zip((0..database.len()).step_by(base.page)) {
        let kind = known.get(&number).map_or("free page or pointer map", |kind| kind);
        add(kind, 0, start.max(100)..start + base.page);
    }
    if !log.is_empty() {
        add("log header", 1, 0..32);
        for start in (32..log.len()).step_by(base.page + 24) {
            add("log frame header", 1, start..start + 24);
            add("log frame", 1, start + 24..start + 24 + base.page);
        }
    }
    kinds
}

/// The pages of tables and indexes: leaves, those above, and those of long values.
fn kinds_of_pages(database: &[u8]) -> BTreeMap<i64, String> {
    let folder = base::folder();
    let files = Files([database.to_vec(), Vec::new(), Vec::new()]);
    let connection = Connection::open(files.write(folder.path())).expect("a database");
    let pages = "SELECT pageno, coalesce(type, 'schema') || ', ' || pagetype FROM dbstat LEFT JOIN sqlite_schema USING (name)";
    let mut pages = connection.prepare(pages).expect("SQLite counts its pages");
    let pages = pages.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("a query");
    pages.collect::<Result<_, _>>().expect("kinds of pages")
}

/// Sectors from end to end, and bits of the logs, of the bases that are salvaged: every one of them, or a part.
pub(super) fn sweep(bases: &[Base], form: Form) -> Vec<Damage> {
    let is_long = form == Form::Long;
    let mut damages = Vec::new();
    for (base, of) in bases.iter().enumerate().filter(|(_, base)| base.has_lock()) {
        for (file, bytes) in of.files.0[..2].iter().enumerate() {
            let mut add = |at: usize, what| {
                let part = at..bytes.len().min(at + SECTOR);
                let (name, kind) = (of.name, "sweep".into());
                damages.push(Damage { base, name, kind, file, part, at, what });
            };
            let step = match of.name {
                _ if is_long => 1,
                "closed" => 4,
                "killed" => 64,
                _ => 128,
            };
            for (number, at) in (0..bytes.len()).step_by(SECTOR * step).enumerate() {
                if is_long || number % 2 == 0 {
                    add(at, What::Zeroed);
                }
                if is_long || number % 2 == 1 {
                    add(at, What::Noise);
                }
                // Of less than a page there is nothing to salvage.
                if at > SECTOR && (is_long || number % 16 == 4) {
                    add(at, What::CutShort);
                }
            }
            if file == 1 && !bytes.is_empty() {
                // A log ends between what was delivered and what was done.
                (1..10).for_each(|tenth| add(bytes.len() * tenth / 10, What::CutShort));
                let bits = if is_long { 2000 } else { 8 };
                (0..bits).for_each(|bit| add(bytes.len() * bit / bits, What::Bit(0)));
            }
        }
    }
    damages
}
