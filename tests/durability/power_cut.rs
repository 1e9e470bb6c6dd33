//! Every delivery that was acknowledged before a power cut is there after it.
//!
//! A child is recorded, and its files are rebuilt as they may be after a cut at any moment. This finds what `kill -9`
//! cannot: a receiver that does not sync when it commits.

use std::{fs, io, path::Path, thread, time::Instant};

use fastrand::Rng;
use tempfile::TempDir;

use crate::{
    disk::Disk,
    form::Form,
    recording::{Moment, Recording},
    role::{self, Failure},
    store,
    story::{STORIES, Tape},
};

/// One cut in this number is opened by the inbox itself, the others by SQLite alone, which is faster.
const INBOX: usize = 8;

pub(crate) fn nothing_acknowledged_is_lost(form: Form) {
    let start = Instant::now();
    let mut all = Found::default();
    for (name, record) in STORIES {
        let (mut acknowledged, mut checkpoints, mut found) = (0, 0, Found::default());
        // No recording is like the other.
        for _ in 0..form.choose(1, 2) {
            let tape = record(form);
            acknowledged += tape.recording.acknowledged.len();
            checkpoints += tape.recording.checkpoints;
            found = found + cut_deliveries(&tape, form.choose(30, 1700));
        }
        println!("  {name}: {acknowledged} acknowledged, {checkpoints} checkpoints, {found}");
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

fn cut_deliveries(tape: &Tape, cuts: usize) -> Found {
    let answers: Vec<_> = tape.recording.acknowledged.keys().copied().collect();
    cut(&tape.recording, &answers, cuts, &|folder, moment, nth| {
        missing(tape, &folder.join(role::FILE), moment, nth)
    })
}

/// Says what is missing in the files of a folder as they may be after a cut at a moment, whose number is the last argument.
/// An error says that they are damaged.
pub(crate) type Look<'a> = dyn Fn(&Path, Moment, usize) -> Result<Vec<String>, Failure> + Sync + 'a;

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
        let looked = look(folder.path(), moment, nth);
        found = found + Found::new(moment, looked);
    }
    found
}

/// The acknowledged deliveries that are not in the file.
fn missing(tape: &Tape, file: &Path, moment: Moment, nth: usize) -> Result<Vec<String>, Failure> {
    let acknowledged = tape.recording.acknowledged.range(..moment).map(|(_, job_id)| job_id);
    let by_inbox = nth.is_multiple_of(INBOX);
    let read = if by_inbox { store::bodies_by_inbox } else { store::bodies_by_sqlite };
    let bodies = match read(file) {
        // A cut may come before there is anything to read.
        Err(_) if !by_inbox && acknowledged.clone().next().is_none() => return Ok(Vec::new()),
        bodies => bodies?,
    };
    let is_missing = |job_id: &&String| {
        bodies.get(*job_id).is_none_or(|body| *body != tape.parcels[*job_id].body)
    };
    Ok(acknowledged.filter(is_missing).cloned().collect())
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

impl Found {
    /// After one cut.
    fn new(moment: Moment, looked: Result<Vec<String>, Failure>) -> Self {
        let damaged = usize::from(looked.is_err());
        let (missing, example) = match looked {
            Ok(missing) => (missing.len(), missing.first().cloned()),
            Err(error) => (0, Some(error.to_string())),
        };
        let example = example.map(|first| format!("at {moment}: {first}, {missing} in all"));
        let example = example.unwrap_or_default();
        Self { cuts: 1, lost: usize::from(missing > 0), deliveries: missing, damaged, example }
    }
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
