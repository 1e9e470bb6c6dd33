//! Handlers that fail, panic, abort, never yield or never end are given up after the attempts they are allowed; and
//! whatever else is in the inbox is worked on meanwhile.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::State;
use tempfile::TempDir;

use crate::{
    acknowledged::Acknowledged,
    child::Child,
    role::{self, Role},
    runs,
    service::{Line, Parcel},
    store,
};

/// How long all of it may take.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn is_given_up_and_holds_nothing_up() {
    let start = Instant::now();
    let mut scene = Scene::of(Role::ShortLimits);
    // An abort ends the process, and with it all handlers that run: that is another proof.
    scene.deliver("aborts-0");
    let ended = scene.until_all_are_settled();
    assert_eq!(ended["aborts-0"].state, State::Dead);
    for poison in ["fails", "panics", "blocks", "hoards"] {
        scene.deliver(&format!("{poison}-0"));
        for nth in 0..5 {
            scene.deliver(&format!("healthy-{poison}-{nth}"));
        }
    }
    let ended = scene.until_all_are_settled();
    for (job_id, end) in &ended {
        let (state, runs) = match job_id.split('-').next() {
            Some("healthy") => (State::Done, 1..=1),
            // It has one more, because another may have ended the process.
            Some("aborts") => (State::Dead, Role::ATTEMPTS + 1..=Role::ATTEMPTS + 1),
            _ => (State::Dead, 3..=Role::ATTEMPTS),
        };
        assert_eq!(end.state, state, "{job_id} is in the wrong state");
        assert!(runs.contains(&end.began), "the handler of {job_id} ran {} times", end.began);
    }
    assert_eq!(scene.restarts, Role::ATTEMPTS + 1, "only one of them aborts the process");
    println!(
        "durability: poison: 5 poisons dead after {} attempts, 20 healthy ones done at once, in {} s",
        Role::ATTEMPTS,
        start.elapsed().as_secs()
    );
}

/// Each time the process is aborted, the same others are at work. They must not be given up together with the one that
/// aborts it, and a handler that takes as long as many restarts must come to its end.
pub(crate) fn does_not_take_its_neighbours_along() {
    for (role, jobs) in [
        (Role::ShortLimits, &["slow-0", "slow-1", "aborts-0"][..]),
        (Role::Defaults, &["aborts-0", "long-0"]),
    ] {
        let start = Instant::now();
        let mut scene = Scene::of(role);
        jobs.iter().for_each(|job_id| scene.deliver(job_id));
        let ended = scene.until_all_are_settled();
        for job_id in jobs {
            let aborts = job_id.starts_with("aborts");
            let expected = if aborts { State::Dead } else { State::Done };
            assert_eq!(ended[*job_id].state, expected, "{job_id}, {role:?}");
        }
        println!(
            "durability: neighbours, {role:?}: {jobs:?}: all but the one that aborts the process {} times end, in {} s",
            scene.restarts,
            start.elapsed().as_secs()
        );
    }
}

/// With a single attempt, only those are dead that end the process: all others have one more, alone.
pub(crate) fn gives_up_none_but_those_that_end_the_process() {
    let start = Instant::now();
    let mut scene = Scene::of(Role::Receiver);
    for nth in 0..ONCE {
        let word = ["healthy", "slow", "healthy", "aborts"][nth % 4];
        scene.deliver(&format!("{word}-{nth}"));
    }
    scene.become_role(Role::Once);
    let ended = scene.until_all_are_settled();
    let dead = ended.values().filter(|end| end.state == State::Dead).count();
    println!(
        "durability: neighbours: with a single attempt, {dead} of {ONCE} dead, {} restarts, in {} s",
        scene.restarts,
        start.elapsed().as_secs()
    );
    for (job_id, end) in &ended {
        let is_dead = end.state == State::Dead;
        assert_eq!(is_dead, job_id.starts_with("aborts"), "{job_id} is in the wrong state");
        assert!((1..=2).contains(&end.began), "the handler of {job_id} ran {} times", end.began);
    }
}

/// How many entries have a single attempt.
const ONCE: usize = 120;

/// A receiver that is started again whenever it ends, and what was delivered to it.
struct Scene {
    _folder: TempDir,
    path: PathBuf,
    role: Role,
    child: Child,
    ledger: Acknowledged,
    restarts: u32,
    start: Instant,
}

/// What became of a job.
struct End {
    state: State,
    /// How often its handler was started.
    began: u32,
}

impl Scene {
    fn of(role: Role) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let path = folder.path().canonicalize().expect("it is there");
        let child = Self::child(&path, role);
        let (ledger, restarts) = Default::default();
        Self { _folder: folder, path, role, child, ledger, restarts, start: Instant::now() }
    }

    fn child(path: &Path, role: Role) -> Child {
        Child::start(path, role, None).expect("the receiver starts, also after it was aborted")
    }

    fn become_role(&mut self, role: Role) {
        self.child.end();
        (self.role, self.child) = (role, Self::child(&self.path, role));
    }

    fn restart_if_it_ended(&mut self) {
        if self.child.has_ended() {
            self.child = Self::child(&self.path, self.role);
            self.restarts += 1;
        }
    }

    /// Until it is acknowledged: the process may be aborted in between, and the service comes again.
    fn deliver(&mut self, job_id: &str) {
        let parcel = Parcel::new(job_id, 0);
        let attempt =
            |child: &Child| Line::open(child.address).and_then(|mut line| line.deliver(&parcel));
        while attempt(&self.child).ok() != Some(200) {
            self.restart_if_it_ended();
            assert!(self.start.elapsed() < TIMEOUT, "{job_id} is not taken in");
        }
        self.ledger.acknowledge(&parcel);
    }

    fn until_all_are_settled(&mut self) -> HashMap<String, End> {
        let rows = loop {
            self.restart_if_it_ended();
            let entries = Line::open(self.child.address).and_then(|mut line| line.ask("/entries"));
            let entries = entries.unwrap_or_default();
            let is_settled = |row: &&str| row.contains(" done ") || row.contains(" dead ");
            if entries.lines().filter(is_settled).count() == self.ledger.len() {
                break entries;
            }
            assert!(
                self.start.elapsed() < TIMEOUT,
                "not everything is settled after a minute:\n{entries}"
            );
            thread::sleep(Duration::from_millis(20));
        };
        let runs = runs::read(&self.path);
        let ended = rows.lines().filter_map(|row| {
            let (job_id, rest) = row.split_once(' ')?;
            let state = State::from_name(rest.split(' ').next()?)?;
            let began = runs.get(job_id).map_or(0, |(began, _)| *began);
            Some((job_id.to_owned(), End { state, began }))
        });
        ended.collect()
    }
}

impl Drop for Scene {
    /// Whatever else happened, the file holds what was acknowledged.
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        self.child.end();
        let found =
            self.ledger.compare(&store::rows(&self.path.join(role::FILE)).expect("the file opens"));
        assert!(found.lost.is_empty() && found.doubled.is_empty(), "{found:?}");
    }
}
