//! Whatever call on the file fails, and however long the disk is full: nothing is acknowledged that is not there,
//! and the receiver recovers by itself.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    acknowledged::Acknowledged,
    child::Child,
    form::Form,
    role::{self, Role},
    service::{Line, Parcel},
    store,
    strace::{self, Strace},
    trace,
};

/// The calls that can fail.
const CALLS: [&str; 4] = ["pwrite64", "fdatasync", "fsync", "ftruncate"];
const ERRORS: [&str; 2] = ["EIO", "ENOSPC"];
const DELIVERIES: usize = 50;
/// The receiver promises an answer within this time.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn a_call_that_fails_acknowledges_nothing_that_is_not_there(form: Form) {
    let start = Instant::now();
    let mut injections = Vec::new();
    for (call, most) in count_calls() {
        for error in ERRORS {
            injections.extend((1..=most).map(|when| (call, error, when)));
        }
    }
    let all = injections.len();
    Rng::new().shuffle(&mut injections);
    injections.truncate(form.choose(12, all));
    let tried = injections.len();
    let (mut refused, mut refused_to_start) = (0, 0);
    for (call, error, when) in injections {
        match run_with(&format!("{call}:error={error}:when={when}")) {
            Some(more) => refused += more,
            None => refused_to_start += 1,
        }
    }
    println!(
        "durability: faults: {tried} of {all} calls failed once: {refused} deliveries refused and repeated, \
         {refused_to_start} times no start, 0 lost, in {} s",
        start.elapsed().as_secs()
    );
}

/// Injected, so that it needs no privileges: a number of successive calls find no space, or fail to sync.
pub(crate) fn a_disk_that_fails_for_a_while(form: Form) {
    // The first calls are those of the start, which is not meant here.
    let stretches = [
        ("pwrite64", "ENOSPC", "80..140"),
        (strace::SYNCS, "EIO", "20..40"),
        ("pwrite64", "ENOSPC", "81..400"),
        ("pwrite64", "ENOSPC", "100..101"),
        ("pwrite64", "EIO", "120..130"),
        ("pwrite64", "ENOSPC", "150..800"),
        (strace::SYNCS, "EIO", "21..200"),
        (strace::SYNCS, "ENOSPC", "22..23"),
    ];
    for (calls, error, when) in stretches.into_iter().take(form.choose(2, stretches.len())) {
        let refused = run_with(&format!("{calls}:error={error}:when={when}"));
        let refused = refused.expect("the receiver starts before anything fails");
        assert!(refused > 0, "nothing was refused while {calls} failed");
        println!("  {calls} {when} failed with {error}: {refused} refused, 0 lost");
    }
}

/// Counts the calls of a run in which nothing fails, those of the busiest thread.
fn count_calls() -> Vec<(&'static str, u32)> {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let folder = folder.path().canonicalize().expect("it is there");
    let trace = folder.join("trace");
    let strace = Strace::glancing(&CALLS.join(","), &trace);
    let child = Child::start(&folder, Role::Receiver, Some(&strace)).expect("the receiver starts");
    let refused = deliver(&child, &Acknowledged::default(), DELIVERIES, 1);
    assert_eq!(refused, 0, "nothing fails yet");
    child.stop();
    let mut counts: HashMap<(String, u32), u32> = HashMap::new();
    for call in trace::read(&trace) {
        *counts.entry((call.name, call.thread)).or_default() += 1;
    }
    let most = |name: &str| {
        counts.iter().filter(|((call, _), _)| call == name).map(|(_, count)| *count).max()
    };
    CALLS.into_iter().filter_map(|call| Some((call, most(call)?))).collect()
}

/// Delivers to a receiver of which one call, or some, fail; and looks into the file afterwards. How many deliveries were
/// refused; `None` if it did not start: then it starts the next time.
fn run_with(injection: &str) -> Option<u32> {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let folder = folder.path().canonicalize().expect("it is there");
    let ledger = Acknowledged::default();
    let strace = Strace::glancing(&CALLS.join(","), &folder.join("trace")).injecting(injection);
    let refused = match Child::start(&folder, Role::Receiver, Some(&strace)) {
        Ok(child) => {
            // More often than calls fail in the longest stretch: a refusal may cost no more than one of them.
            let refused = deliver(&child, &ledger, DELIVERIES, 1000);
            child.kill();
            Some(refused)
        }
        Err(why) => {
            assert!(
                why.contains("exit status: 2"),
                "{injection}: the receiver did not refuse in order: {why}"
            );
            let child = Child::start(&folder, Role::Receiver, None)
                .expect("the receiver starts when nothing fails");
            deliver(&child, &ledger, 3, 1);
            child.kill();
            None
        }
    };
    compare(&ledger, &folder, injection);
    refused
}

fn compare(ledger: &Acknowledged, folder: &Path, what: &str) {
    let found = ledger.compare(&store::rows(&folder.join(role::FILE)).expect("the file opens"));
    assert!(found.lost.is_empty(), "{what}: acknowledged and lost: {:?}", found.lost);
    assert!(found.doubled.is_empty(), "{what}: stored twice: {:?}", found.doubled);
}

/// Delivers, each delivery until it is acknowledged, at most so often. A refusal is a 503, and comes in time: how many
/// there were.
fn deliver(child: &Child, ledger: &Acknowledged, deliveries: usize, attempts: usize) -> u32 {
    let mut line = Line::open(child.address).expect("the receiver listens");
    let mut refused = 0;
    for nth in 0..deliveries {
        let parcel = Parcel::new(&format!("plain-{nth}"), [0, 2000][nth % 2]);
        let acknowledged = (0..attempts).any(|_| {
            let status = attempt(child, &mut line, &parcel);
            if status == 200 {
                ledger.acknowledge(&parcel);
                return true;
            }
            assert_eq!(status, 503, "a receiver that cannot store says so");
            refused += 1;
            thread::sleep(Duration::from_millis(5));
            false
        });
        assert!(
            acknowledged,
            "the receiver does not recover: {attempts} times 503 for {}",
            parcel.job_id
        );
    }
    refused
}

fn attempt(child: &Child, line: &mut Line, parcel: &Parcel) -> u16 {
    let start = Instant::now();
    let status = line.deliver(parcel).or_else(|_| {
        // A connection may be closed; the receiver may not.
        *line = Line::open(child.address)?;
        line.deliver(parcel)
    });
    assert!(start.elapsed() < TIMEOUT, "the answer took {:?}", start.elapsed());
    status.expect("the receiver answers")
}

/// A small disk in memory, where mounting is allowed.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"]).arg(folder.path());
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self { folder })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

/// A disk that is really full, and is emptied again, while another program reads the database all the time.
pub(crate) fn a_small_disk_fills_and_empties() {
    let Some(disk) = SmallDisk::mount() else {
        println!("durability: faults: skipped: a small disk (mounting is not allowed here)");
        return;
    };
    let folder = disk.path();
    let ballast = folder.join("ballast");
    let ledger = Acknowledged::default();
    let child = Child::start(&folder, Role::Receiver, None).expect("the receiver starts");
    let mut line = Line::open(child.address).expect("the receiver listens");
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    let mut send = |word: &str, nth: usize| {
        let parcel = Parcel::new(&format!("{word}-{nth}"), 20_000);
        let status = attempt(&child, &mut line, &parcel);
        if status == 200 {
            ledger.acknowledge(&parcel);
        }
        *counts.entry(status).or_default() += 1;
        status
    };
    let reader = Connection::open(folder.join(role::FILE)).expect("it is there");
    reader.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").expect("it can be read");
    for round in 0..3 {
        assert!((0..5).all(|nth| send(&format!("room{round}"), nth) == 200), "there is room");
        fill(&ballast).expect("only room is missing");
        let refused = (0..60).filter(|nth| send(&format!("full{round}"), *nth) == 503).count();
        assert!(refused > 0, "the disk is full and nothing is refused");
        fs::remove_file(&ballast).expect("a file can be removed from a full disk");
        let recovers = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(20));
            send(&format!("full{round}"), 59) == 200
        });
        assert!(recovers, "the receiver does not recover when there is room again");
    }
    drop(reader);
    child.kill();
    compare(&ledger, &folder, "a full disk");
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [200, 503]);
    println!(
        "durability: full disk: filled and emptied three times: {} acknowledged, {} refused, 0 lost",
        counts[&200], counts[&503]
    );
}

/// Until nothing more fits.
fn fill(ballast: &Path) -> io::Result<()> {
    use std::io::Write as _;

    let mut file = fs::File::create(ballast)?;
    for size in [1 << 16, 1 << 12, 1] {
        let piece = vec![0; size];
        loop {
            match file.write_all(&piece) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => break,
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
