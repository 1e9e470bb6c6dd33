//! A receiver that is killed at any time, and started again on its file, loses nothing and does nothing twice.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::{
    acknowledged::Acknowledged,
    aim::Aim,
    child::Child,
    form::Form,
    role::{self, Role},
    runs,
    service::{Line, Parcel},
    store,
};

/// How many of the service's connections there are.
const LINES: usize = 4;

/// Where an obstacle keeps everything from being traced, every kill is one at random.
pub(crate) fn lose_nothing_and_double_nothing(form: Form, obstacle: Option<&str>) {
    if let Some(obstacle) = obstacle {
        println!("durability: kills: skipped: those at named points: {obstacle}");
    }
    let start = Instant::now();
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let folder = folder.path().canonicalize().expect("it is there");
    let service = Service::default();
    let (kills, mut hits) = (form.choose(15, 200), 0);
    thread::scope(|scope| {
        for line in 0..LINES {
            let service = &service;
            scope.spawn(move || service.deliver(line));
        }
        let mut rng = Rng::new();
        for round in 0..kills {
            let is_aimed = obstacle.is_none() && round % 4 > 0;
            let aim = is_aimed.then(|| Aim::at(round, &mut rng));
            hits += u32::from(kill_once(&folder, &service, aim.as_ref(), &mut rng));
        }
        service.is_over.store(true, Ordering::Relaxed);
        let child = Child::start(&folder, Role::Inbox, None)
            .expect("the receiver starts after the last kill");
        service.move_to(Some(child.address));
        finish(&child, &service);
        assert!(child.stop().success(), "the receiver stops in order");
    });
    check(&folder, &service.ledger);
    println!(
        "durability: kills: {kills} kills, {hits} of them in a system call, {} acknowledged, 0 lost, 0 doubled, all done, in {} s",
        service.ledger.len(),
        start.elapsed().as_secs(),
    );
}

/// Starts a receiver, lets it work, and kills it. Whether that was in the system call that was aimed at.
fn kill_once(folder: &Path, service: &Service, aim: Option<&Aim>, rng: &mut Rng) -> bool {
    let trace = folder.join("trace");
    let strace = aim.map(|aim| aim.strace(folder, &trace));
    let role = aim.map_or(Role::Inbox, |aim| aim.role);
    let Ok(mut child) = Child::start(folder, role, strace.as_ref()) else {
        // Only a receiver that was to be killed may end before it serves.
        assert!(aim.is_some(), "the receiver starts after a kill");
        return true;
    };
    service.move_to(Some(child.address).filter(|_| aim.is_none_or(|aim| aim.with_deliveries)));
    if aim.is_none() {
        let timeout = Duration::from_millis(rng.u64(5..250));
        assert!(!child.ends_within(timeout), "the receiver ended by itself");
        child.kill();
        return false;
    }
    let was_hit = child.ends_within(Duration::from_millis(1500));
    child.kill();
    was_hit
}

/// Waits until all that was acknowledged is done.
fn finish(child: &Child, service: &Service) {
    let start = Instant::now();
    loop {
        let rows = Line::open(child.address)
            .and_then(|mut line| line.ask("/entries"))
            .expect("the receiver answers");
        let is_done =
            |job_id: &String| rows.lines().any(|row| row.starts_with(&format!("{job_id} done ")));
        let quiet = service.open.load(Ordering::Relaxed) == 0;
        if quiet && service.ledger.jobs().iter().all(is_done) {
            return;
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "not everything is done after a minute:\n{rows}"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

fn check(folder: &Path, ledger: &Acknowledged) {
    let file = folder.join(role::FILE);
    let found = ledger.compare(&store::rows(&file).expect("the file opens"));
    assert!(found.acknowledged > 0, "nothing was acknowledged");
    assert!(found.lost.is_empty(), "acknowledged and lost: {:?}", found.lost);
    assert!(found.doubled.is_empty(), "stored twice: {:?}", found.doubled);
    assert!(found.unfinished.is_empty(), "not done: {:?}", found.unfinished);
    let runs = runs::read(folder);
    let effects = store::effects(&file).expect("the file opens");
    for job_id in ledger.jobs() {
        let (began, _) = runs.get(&job_id).copied().unwrap_or_default();
        assert!(began > 0, "{job_id} is done, and its handler never ran");
        assert!(began <= 100, "the handler of {job_id} ran {began} times");
        if job_id.starts_with("transaction") {
            assert_eq!(effects.get(&job_id), Some(&1), "the effect of {job_id} happened so often");
        }
    }
}

/// Delivers until it is over, to wherever the receiver is, and repeats what was not acknowledged.
#[derive(Debug, Default)]
struct Service {
    address: Mutex<Option<SocketAddr>>,
    ledger: Acknowledged,
    /// Deliveries that are not acknowledged yet.
    open: AtomicUsize,
    is_over: AtomicBool,
}

impl Service {
    fn move_to(&self, address: Option<SocketAddr>) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    fn deliver(&self, line: usize) {
        let mut connection = None;
        for nth in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            self.open.fetch_add(1, Ordering::Relaxed);
            let word = if nth % 3 == 0 { "transaction" } else { "plain" };
            let parcel = Parcel::new(&format!("{word}-{line}-{nth}"), [0, 300, 9000][nth % 3]);
            // Acknowledged, and now and then sent again: the service may not have seen the answer.
            let times = if nth % 5 == 0 { 2 } else { 1 };
            for _ in 0..times {
                self.deliver_until_acknowledged(&parcel, &mut connection);
            }
            self.open.fetch_sub(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(4));
        }
    }

    /// The service pauses for 10, 60 and 300 seconds. Here it is milliseconds, and it does not give up.
    fn deliver_until_acknowledged(
        &self,
        parcel: &Parcel,
        connection: &mut Option<(SocketAddr, Line)>,
    ) {
        for pause in [10, 60, 300].into_iter().chain(std::iter::repeat(300)) {
            if self.attempt(parcel, connection).is_some_and(|status| (200..300).contains(&status)) {
                self.ledger.acknowledge(parcel);
                return;
            }
            thread::sleep(Duration::from_millis(pause));
        }
    }

    fn attempt(&self, parcel: &Parcel, connection: &mut Option<(SocketAddr, Line)>) -> Option<u16> {
        let address = *self.address.lock().unwrap_or_else(PoisonError::into_inner);
        let address = address?;
        let open = connection.take().filter(|(to, _)| *to == address);
        let (_, mut line) = match open {
            Some(open) => open,
            None => (address, Line::open(address).ok()?),
        };
        let status = line.deliver(parcel).ok()?;
        *connection = Some((address, line));
        Some(status)
    }
}
