//! What children live through while they are recorded.

use std::{collections::HashMap, path::PathBuf, thread, time::Duration};

use rusqlite::{Connection, config::DbConfig};
use tempfile::TempDir;

use crate::{
    child::Child,
    form::Form,
    load,
    recording::{Answers, Recording},
    role::{self, Role},
    service::Parcel,
    strace::{self, Strace},
};

/// The name of a story, and how it is recorded.
type Story = (&'static str, fn(Form) -> Tape);

pub(crate) const STORIES: [Story; 8] = [
    ("four connections", |form| {
        Tape::record(&load::parcels("plain", 4, each(form), 0), Role::Receiver)
    }),
    // Whose handlers write to the file as well.
    ("with a worker", |form| {
        Tape::record(&load::parcels("transaction", 4, each(form), 0), Role::Inbox)
    }),
    ("in bursts", bursts),
    ("with large bodies", large),
    ("killed before a sync", killed),
    ("with syncs that fail", failing),
    ("beside a reader", read),
    ("with syncs that fail beside a reader", failing_read),
];

fn each(form: Form) -> usize {
    form.choose(8, 25)
}

/// In bursts, between which the log is copied into the database and restarted.
fn bursts(form: Form) -> Tape {
    let mut taping = Taping::new(Role::Inbox);
    let burst =
        |nth: usize| load::parcels(&format!("burst{nth}"), 3, each(form) / 4, 9000 * (nth % 3));
    let bursts: Vec<_> = (0..form.choose(3, 6)).map(burst).collect();
    let bursts: Vec<_> = bursts.iter().map(Vec::as_slice).collect();
    taping.run_in_bursts(&bursts, |trace| trace);
    taping.end()
}

/// Enough bytes for the log to be copied and synced ahead, beside commits. Then syncs of what was copied ahead fail.
fn large(_: Form) -> Tape {
    let mut taping = Taping::new(Role::Receiver);
    // SQLite calls `fsync` alone.
    for injection in [None, Some("fdatasync:error=EIO:when=1..3")] {
        let word = |nth| format!("large{nth}-{}", u8::from(injection.is_some()));
        let bursts = [0, 1].map(|nth| load::parcels(&word(nth), 3, 6, 300_000));
        let bursts = [bursts[0].as_slice(), bursts[1].as_slice()];
        taping.run_in_bursts(&bursts, |trace| match injection {
            Some(injection) => trace.injecting(injection),
            None => trace,
        });
    }
    taping.end()
}

/// Killed between the writes of a commit and its sync, and started again: the same deliveries come once more. The
/// one that was not synced is in the file as long as the power stays on.
fn killed(form: Form) -> Tape {
    let mut taping = Taping::new(Role::Receiver);
    taping.run(&[], |trace| trace);
    for round in 0..form.choose(4, 8) {
        let injection = interrupted("signal=KILL", round % 4);
        let mut parcels = load::parcels(&format!("round{round}"), 1, 9, 0);
        let answered = taping.run(&parcels, |trace| trace.injecting(&injection));
        parcels[0].truncate(answered + 1);
        taping.run(&parcels, |trace| trace);
    }
    taping.end()
}

/// A sync fails: the same deliveries come once more.
fn failing(form: Form) -> Tape {
    let mut taping = Taping::new(Role::Receiver);
    taping.run(&[], |trace| trace);
    for round in 0..form.choose(4, 8) {
        // One, or some on end: whatever the receiver does about the first fails as well.
        let more = round % 4;
        let injection = format!("{}..{}", interrupted("error=EIO", 0), START + 2 + more);
        let parcels = load::parcels(&format!("round{round}"), 1, 9, 0);
        taping.run(&[again(&parcels)], |trace| trace.injecting(&injection));
    }
    taping.end()
}

/// Stopped in order while another program reads, so that the log stays; started again, killed before a sync, and
/// started once more when the program has ended.
fn read(form: Form) -> Tape {
    let mut taping = Taping::new(Role::Receiver);
    taping.run(&load::parcels("first", 1, 3, 0), |trace| trace);
    for round in 0..form.choose(3, 6) {
        let parcels = |word| load::parcels(&format!("{word}{round}"), 1, 6, 0);
        let reader = taping.reader();
        taping.run(&parcels("beside"), |trace| trace);
        let injection = interrupted("signal=KILL", round % 3);
        taping.run(&parcels("killed"), |trace| trace.injecting(&injection));
        // While the reader is there, the deliveries are refused.
        taping.run(&parcels("killed"), |trace| trace);
        drop(reader);
        taping.run(&parcels("killed"), |trace| trace);
    }
    taping.end()
}

/// Each sync fails from one on, until the end. Another program reads what these left in the log, so that the log
/// cannot be restarted: what comes then is refused. Started once more when the program has ended.
fn failing_read(form: Form) -> Tape {
    let mut taping = Taping::new(Role::Receiver);
    taping.run(&load::parcels("first", 1, 3, 0), |trace| trace);
    for round in 0..form.choose(3, 6) {
        let injection = format!("{}+", interrupted("error=EIO", round % 3));
        let parcels = load::parcels(&format!("round{round}"), 1, 6, 0);
        taping.run(&parcels, |trace| trace.injecting(&injection));
        let reader = taping.reader();
        taping.run(&parcels, |trace| trace);
        drop(reader);
        taping.run(&parcels, |trace| trace);
    }
    taping.end()
}

/// How many syncs a start may need: of the first lines of a new log, of its name in the folder, and of its commit.
const START: usize = 3;

/// An injection at the sync of one of the first deliveries.
fn interrupted(how: &str, delivery: usize) -> String {
    format!("{}:{how}:when={}", strace::SYNCS, START + 1 + delivery)
}

/// Each delivery three times on end: the service comes again at once.
fn again(parcels: &[Vec<Parcel>]) -> Vec<Parcel> {
    parcels[0].iter().flat_map(|parcel| [parcel, parcel, parcel]).cloned().collect()
}

/// A story that was recorded, and what was delivered in it.
pub(crate) struct Tape {
    pub(crate) recording: Recording,
    pub(crate) parcels: HashMap<String, Parcel>,
}

impl Tape {
    /// One child, from its start to its end.
    fn record(rows: &[Vec<Parcel>], role: Role) -> Self {
        let mut taping = Taping::new(role);
        taping.run(rows, |trace| trace);
        taping.end()
    }
}

/// A recording in the making: children that follow each other on the same files.
struct Taping {
    role: Role,
    folder: TempDir,
    traces: Vec<PathBuf>,
    answers: Answers,
    parcels: HashMap<String, Parcel>,
}

impl Taping {
    fn new(role: Role) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (traces, answers, parcels) = Default::default();
        Self { role, folder, traces, answers, parcels }
    }

    /// Another program, which reads until it is dropped. It changes no file, because it is not recorded.
    fn reader(&self) -> Connection {
        let reader = Connection::open(self.folder.path().join(role::FILE)).expect("it is there");
        reader
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .expect("it can be set");
        reader.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").expect("it can be read");
        reader
    }

    /// A child from its start to its end. How many deliveries it answered.
    fn run(&mut self, rows: &[Vec<Parcel>], how: impl FnOnce(Strace) -> Strace) -> usize {
        self.run_in_bursts(&[rows], how)
    }

    /// The same, with pauses that are long enough for the log to be copied into the database.
    fn run_in_bursts(
        &mut self,
        bursts: &[&[Vec<Parcel>]],
        how: impl FnOnce(Strace) -> Strace,
    ) -> usize {
        const PAUSE: Duration = Duration::from_millis(450);

        let folder = self.folder.path().canonicalize().expect("it is there");
        let trace = folder.join(format!("trace.{}", self.traces.len()));
        let strace = how(Strace::recording(&trace));
        self.traces.push(trace);
        // One that is to be killed may not come so far.
        let Ok(child) = Child::start(&folder, self.role, Some(&strace)) else { return 0 };
        let mut answered = 0;
        for (nth, rows) in bursts.iter().enumerate() {
            if nth > 0 {
                thread::sleep(PAUSE);
            }
            let (answers, statuses) = load::deliver(child.address, rows);
            answered += statuses.len();
            for (port, jobs) in answers {
                self.answers.entry(port).or_default().extend(jobs);
            }
            let sent = rows.iter().flatten();
            self.parcels.extend(sent.map(|parcel| (parcel.job_id.clone(), parcel.clone())));
        }
        child.stop();
        answered
    }

    fn end(self) -> Tape {
        let folder = self.folder.path().canonicalize().expect("it is there");
        let recording = Recording::read(&folder, &self.traces, &self.answers);
        assert!(!recording.acknowledged.is_empty(), "nothing was acknowledged");
        let is_changed = recording.files.iter().any(|file| !file.changes.is_empty());
        assert!(is_changed, "nothing was written");
        Tape { recording, parcels: self.parcels }
    }
}
