//! Every delivery that was acknowledged before a power cut is there after it.
//!
//! A child is recorded, and its files are rebuilt as they may be after a cut at any moment. The control shows that
//! this finds what `kill -9` cannot: a receiver that does not sync when it commits.

use std::{fs, io, path::Path, thread, time::Instant};

use fastrand::Rng;
use tempfile::TempDir;

use crate::{
    disk::Disk,
    form::Form,
    load,
    recording::{Moment, Recording},
    role::{self, Role},
    store,
    story::{Story, Tape},
};

/// One cut in this number is opened by the inbox itself, the others by SQLite alone, which is faster.
const INBOX: usize = 8;

pub(crate) fn nothing_acknowledged_is_lost(form: Form) {
    let start = Instant::now();
    let mut all = Found::default();
    for story in Story::ALL {
        let (mut acknowledged, mut checkpoints, mut found) = (0, 0, Found::default());
        // No recording is like the other.
        for _ in 0..form.choose(1, 2) {
            let tape = story.record(form);
            acknowledged += tape.recording.acknowledged.len();
            checkpoints += tape.recording.checkpoints;
            found = found + cut_deliveries(&tape, form.choose(60, 1700));
        }
        println!(
            "  {}: {acknowledged} acknowledged, {checkpoints} checkpoints, {found}",
            story.name()
        );
        all = all + found;
    }
    assert_eq!(
        (all.lost, all.damaged),
        (0, 0),
        "acknowledged deliveries are lost in power cuts: {}",
        all.example
    );
    println!("durability: power cut: {all}, in {} s", start.elapsed().as_secs());
}

/// The same harness must find a receiver that syncs too little, and must not find one that syncs.
pub(crate) fn control(form: Form) {
    for (role, loses) in [(Role::Normal, true), (Role::Full, false)] {
        let tape = Tape::record(&load::parcels("plain", 2, form.choose(10, 40), 0), role);
        let found = cut_deliveries(&tape, form.choose(100, 2000));
        println!("  control {role:?}: {found}");
        assert_eq!(found.damaged, 0, "{}", found.example);
        let says = format!("the control {role:?} says something of the harness: {}", found.example);
        assert_eq!(found.lost > 0, loses, "{says}");
    }
}

fn cut_deliveries(tape: &Tape, cuts: usize) -> Found {
    let answers: Vec<_> = tape.recording.acknowledged.keys().copied().collect();
    cut(&tape.recording, &answers, cuts, &|folder, moment, nth| {
        let reader = if nth % INBOX == 0 { Reader::Inbox } else { Reader::Sqlite };
        look(tape, folder, moment, reader)
    })
}

/// Looks at the files in a folder as they may be after a cut at a moment. The last argument is the number of the cut.
pub(crate) type Look<'a> = dyn Fn(&Path, Moment, usize) -> Found + Sync + 'a;

/// Cuts so often, on as many threads as there are processors: at any time, or shortly behind one of the promises, which
/// is when too much was promised.
pub(crate) fn cut(
    recording: &Recording,
    promises: &[Moment],
    cuts: usize,
    look: &Look<'_>,
) -> Found {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(cuts);
    let seed = Rng::new().u64(..);
    thread::scope(|scope| {
        let cutters: Vec<_> = (0..threads)
            .map(|thread| {
                let rng = Rng::with_seed(seed + thread as u64);
                let cuts = cuts / threads + usize::from(thread < cuts % threads);
                scope.spawn(move || cut_alone(recording, promises, cuts, look, rng))
            })
            .collect();
        let found = cutters.into_iter().map(|cutter| cutter.join().expect("it says what it found"));
        found.fold(Found::default(), std::ops::Add::add)
    })
}

fn cut_alone(
    recording: &Recording,
    promises: &[Moment],
    cuts: usize,
    look: &Look<'_>,
    mut rng: Rng,
) -> Found {
    let moment = |_| match rng.bool() {
        true => rng.usize(..=recording.end),
        false => promises[rng.usize(..promises.len())] + rng.usize(1..6),
    };
    let mut moments: Vec<_> = (0..cuts).map(moment).collect();
    moments.sort_unstable();
    let mut disk = Disk::new(recording);
    let mut found = Found::default();
    for (nth, moment) in moments.into_iter().enumerate() {
        let folder = memory_folder().expect("there is room for temporary files");
        let seed = rng.u64(..);
        disk.cut(moment, &mut Rng::with_seed(seed), folder.path())
            .expect("there is room for the files");
        found = found + look(folder.path(), moment, nth);
    }
    found
}

/// What opens the files after a cut.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Inbox,
    Sqlite,
}

fn look(tape: &Tape, folder: &Path, moment: Moment, reader: Reader) -> Found {
    let found = Found { cuts: 1, ..Found::default() };
    let acknowledged = tape.recording.acknowledged.range(..moment);
    let file = folder.join(role::FILE);
    let bodies = match reader {
        Reader::Inbox => store::bodies_by_inbox(&file),
        Reader::Sqlite => store::bodies_by_sqlite(&file),
    };
    let bodies = match bodies {
        Ok(bodies) => bodies,
        // A cut may come before there is anything to read.
        Err(_) if reader == Reader::Sqlite && acknowledged.clone().next().is_none() => {
            return found;
        }
        Err(error) => {
            return Found { damaged: 1, example: format!("at {moment}: {error}"), ..found };
        }
    };
    let lost: Vec<_> = acknowledged
        .filter(|(_, job_id)| {
            bodies.get(*job_id).is_none_or(|body| *body != tape.parcels[*job_id].body)
        })
        .collect();
    match lost.first() {
        None => found,
        Some((_, job_id)) => Found {
            lost: 1,
            deliveries: lost.len(),
            example: format!("at {moment}: {job_id} and {} more", lost.len() - 1),
            ..found
        },
    }
}

/// A folder in memory where there is one: nothing in it has to survive.
fn memory_folder() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if fs::exists(memory)? { TempDir::new_in(memory) } else { tempfile::tempdir() }
}

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) cuts: usize,
    /// Cuts after which something acknowledged was missing.
    pub(crate) lost: usize,
    /// How much that was, all in all.
    pub(crate) deliveries: usize,
    /// Cuts after which the files could not be opened, or were not sound.
    pub(crate) damaged: usize,
    pub(crate) example: String,
}

impl std::ops::Add for Found {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cuts: self.cuts + other.cuts,
            lost: self.lost + other.lost,
            deliveries: self.deliveries + other.deliveries,
            damaged: self.damaged + other.damaged,
            example: if self.example.is_empty() { other.example } else { self.example },
        }
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} cuts, {} lost something acknowledged ({} deliveries), {} damaged",
            self.cuts, self.lost, self.deliveries, self.damaged
        )
    }
}
