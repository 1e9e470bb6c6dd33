//! The spots that are damaged: every page of the database and of its log, by kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
};

use rusqlite::Connection;

use super::base::{self, Base, Files};

/// The kind of a page of an index.
const INDEX: &str = "index";

/// What happens to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// One bit is flipped.
    Bit,
    /// The page is zeros.
    Zeroed,
    /// One half is that of another page.
    Torn,
}

impl Damage {
    pub(super) const ALL: [Self; 3] = [Self::Bit, Self::Zeroed, Self::Torn];
}

/// A part of a file: a page, or a header.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    in_log: bool,
    bytes: Range<usize>,
}

/// One damage.
#[derive(Debug)]
pub(super) struct DamagedSpot {
    pub(super) base: usize,
    name: &'static str,
    pub(super) kind: &'static str,
    damage: Damage,
    part: Part,
    /// The byte, and the bit in it.
    bit: (usize, u8),
}

impl fmt::Display for DamagedSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, at) = (if self.part.in_log { "log" } else { "database" }, self.part.bytes.start);
        write!(
            f,
            "{}, {} of the {file} at {at}: {:?} {:?}",
            self.name, self.kind, self.damage, self.bit
        )
    }
}

impl DamagedSpot {
    /// The files with the damage.
    pub(super) fn damaged(&self, base: &Base) -> Files {
        let mut files = base.files.clone();
        let bytes = if self.part.in_log { &mut files.log } else { &mut files.database };
        let part = self.part.bytes.clone();
        match self.damage {
            Damage::Bit => bytes[self.bit.0] ^= 1 << self.bit.1,
            Damage::Zeroed => bytes[part].fill(0),
            Damage::Torn => {
                let half = part.len() / 2;
                let other = if part.end < bytes.len() { part.end } else { 0 };
                let torn = bytes[other..].iter().take(half).copied().collect::<Vec<_>>();
                bytes[part.start..][..torn.len()].copy_from_slice(&torn);
            }
        }
        files
    }
}

/// Chooses this many spots. Each kind of page gets as many as any other, and its pages take turns.
pub(super) fn choose(
    bases: &[Base],
    damages: &[Damage],
    count: usize,
    seed: u64,
) -> Vec<DamagedSpot> {
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
            let part = parts[number / kinds.len() % parts.len()].clone();
            // One spot in five is a whole page, if that is asked for.
            let whole = damages.len() > 1 && number % 5 == 0 && part.bytes.len() >= 512;
            let damage = if whole { damages[1 + random.usize(..2)] } else { Damage::Bit };
            let bit = bit(&bases[*base].files, &part, &mut random);
            let name = bases[*base].name;
            DamagedSpot { base: *base, name, kind, damage, part, bit }
        })
        .collect()
}

/// A bit of a part. Most are in bytes that hold something.
fn bit(files: &Files, part: &Part, random: &mut fastrand::Rng) -> (usize, u8) {
    let bytes = if part.in_log { &files.log } else { &files.database };
    let used: Vec<_> = part.bytes.clone().filter(|byte| bytes[*byte] != 0).collect();
    let byte = match random.choice(used) {
        Some(byte) if random.u8(..4) > 0 => byte,
        _ => random.usize(part.bytes.clone()),
    };
    (byte, random.u8(..8))
}

/// The pages of a base, by kind.
fn parts(base: &Base) -> BTreeMap<&'static str, Vec<Part>> {
    let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let Files { database, log } = &base.files;
    let mut add = |kind, in_log, bytes| kinds.entry(kind).or_default().push(Part { in_log, bytes });
    add("header", false, 0..100);
    let free = free_pages(database, base.page);
    let of_indexes = pages_of_indexes(&base.files);
    for (index, page) in database.chunks(base.page).enumerate() {
        let number = index + 1;
        let bytes = index * base.page..(index + 1) * base.page;
        match free.get(&number) {
            Some(kind) => add(kind, false, bytes),
            None if is_pointer_map(number, base.page) => add("pointer map", false, bytes),
            None if number == 1 => add("schema", false, 100..base.page),
            None if of_indexes.contains(&number) => add(INDEX, false, bytes),
            None => add(kind_of(page), false, bytes),
        }
    }
    if !log.is_empty() {
        add("log header", true, 0..32);
        let frames = (log.len() - 32) / (base.page + 24);
        for frame in 0..frames {
            let start = 32 + frame * (base.page + 24);
            add("log frame header", true, start..start + 24);
            add("log frame", true, start + 24..start + 24 + base.page);
        }
    }
    kinds
}

fn kind_of(page: &[u8]) -> &'static str {
    match page[0] {
        0x0d => "table leaf",
        0x05 => "table interior",
        0x0a | 0x02 => "table with a key",
        _ => "overflow",
    }
}

/// The pages of indexes. What they hold can be built from the tables.
fn pages_of_indexes(files: &Files) -> BTreeSet<usize> {
    let folder = base::folder();
    let files = Files { log: Vec::new(), ..files.clone() };
    let connection = Connection::open(files.write(folder.path())).expect("a database");
    let pages = "SELECT pageno FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE type = 'index')";
    let mut pages = connection.prepare(pages).expect("SQLite counts its pages");
    let pages = pages.query_map([], |row| row.get::<_, i64>(0)).expect("a query");
    pages.map(|page| usize::try_from(page.expect("a page")).expect("a number of a page")).collect()
}

/// A page that says where each of the pages after it belongs, in a file with automatic vacuum.
fn is_pointer_map(number: usize, page: usize) -> bool {
    number >= 2 && (number - 2).is_multiple_of(page / 5 + 1)
}

/// The pages of the freelist.
fn free_pages(database: &[u8], page: usize) -> BTreeMap<usize, &'static str> {
    let number = |at: usize| {
        let bytes = database[at..at + 4].try_into().expect("four bytes");
        u32::from_be_bytes(bytes) as usize
    };
    let (mut free, mut trunk) = (BTreeMap::new(), number(32));
    while trunk != 0 {
        free.insert(trunk, "freelist trunk");
        let start = (trunk - 1) * page;
        for leaf in 0..number(start + 4) {
            free.insert(number(start + 8 + 4 * leaf), "free page");
        }
        trunk = number(start);
    }
    free
}
