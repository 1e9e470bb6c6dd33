//! Two nodes, delivered to without a pause, while something fails.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    acknowledged::Acknowledged,
    database::{Database, rows},
    node::{self, Node},
    runs,
    service::{Line, Parcel},
};

/// How many connections the service has.
const SENDERS: usize = 4;
const NODES: usize = 2;

/// Within this time after a fault has ended, work goes on by itself.
const RECOVERY: Duration = Duration::from_secs(10);

pub(crate) struct Trial {
    pub(crate) database: Database,
    folder: PathBuf,
    nodes: [Mutex<Option<Node>>; NODES],
    pub(crate) ledger: Acknowledged,
    /// How many deliveries were begun.
    begun: AtomicUsize,
    /// The number of the last delivery that was acknowledged.
    acknowledged: AtomicUsize,
    /// How many attempts were not acknowledged.
    refused: AtomicUsize,
    is_over: AtomicBool,
}

/// Runs nodes and senders while `fail` makes something fail. It returns what that was, for the report.
pub(crate) fn run(name: &str, database: Database, fail: impl FnOnce(&Trial) -> String) {
    let start = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let trial = Trial {
        nodes: [0, 1].map(|number| Mutex::new(Some(Node::start(&database, folder.path(), number)))),
        database,
        folder: folder.path().to_owned(),
        ledger: Acknowledged::default(),
        begun: AtomicUsize::new(0),
        acknowledged: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let mut what = String::new();
    thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|line| {
                scope.spawn({
                    let trial = &trial;
                    move || trial.send(line)
                })
            })
            .collect();
        // The senders end, and with them the test, also if it fails here.
        let over = Over(&trial.is_over);
        trial.goes_on("before the fault");
        what = fail(&trial);
        trial.goes_on("after the fault");
        drop(over);
        for sender in senders {
            sender.join().unwrap();
        }
    });
    trial.finish();
    let record = runs::read(&trial.folder.join("runs"));
    trial.ledger.check(&trial.database, &record);
    for node in &trial.nodes {
        lock(node).take().unwrap().stop();
    }
    println!(
        "postgres: {name}: {what}, {} acknowledged, 0 lost, 0 doubled, {} runs, all done, in {} s",
        trial.ledger.len(),
        record.runs,
        start.elapsed().as_secs(),
    );
}

impl Trial {
    /// Kills a node, and starts it again.
    pub(crate) fn kill(&self, number: usize) {
        let mut node = lock(&self.nodes[number]);
        node.take().unwrap().kill();
        *node = Some(Node::start(&self.database, &self.folder, number));
    }

    /// Waits until a delivery that begins now is acknowledged, and until more entries are done than were in progress.
    pub(crate) fn goes_on(&self, when: &str) {
        let start = Instant::now();
        let schema = &self.database.schema;
        let begun = self.begun.load(Ordering::SeqCst);
        // The nodes may take longer to begin at all.
        let limit = if begun == 0 { RECOVERY * 3 } else { RECOVERY };
        let client = self.database.connect();
        let now =
            rows(&client, "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)").unwrap();
        let done = format!(
            "SELECT FROM {schema}.article_inbox_entries WHERE state = 'done' AND since > {}",
            now[0][0]
        );
        loop {
            let is_received = self.acknowledged.load(Ordering::SeqCst) >= begun;
            let done = rows(&client, &done).unwrap().len();
            if is_received && done > NODES * node::CONCURRENCY {
                return;
            }
            let late = start.elapsed() > limit;
            assert!(
                !late,
                "work does not go on {when} within {limit:?}: {is_received}, {done} done"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether a delivery is refused within this time.
    pub(crate) fn refuses_within(&self, limit: Duration) -> bool {
        let refused = || self.refused.load(Ordering::SeqCst);
        let (start, before) = (Instant::now(), refused());
        while refused() == before {
            if start.elapsed() > limit {
                return false;
            }
            thread::sleep(Duration::from_millis(10));
        }
        true
    }

    fn send(&self, line: usize) {
        let mut connection = None;
        while !self.is_over.load(Ordering::SeqCst) {
            let number = self.begun.fetch_add(1, Ordering::SeqCst);
            let word = match number % 6 {
                0 | 3 => "own",
                1 => "fails",
                _ => "plain",
            };
            let parcel = Parcel::new(&format!("{word}-{number}"), [300, 3_000, 20_000][number % 3]);
            let mut attempts = 0;
            // Acknowledged, and now and then sent again, to the other node: the service may not have seen the answer.
            for time in 0..if number.is_multiple_of(5) { 2 } else { 1 } {
                while !self.deliver(&mut connection, line + time + attempts, &parcel) {
                    if self.is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    attempts += 1;
                    self.refused.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(20));
                }
            }
            self.acknowledged.fetch_max(number, Ordering::SeqCst);
            // Slower than the workers of a busy machine.
            thread::sleep(Duration::from_millis(25));
        }
    }

    /// Whether a node acknowledges the delivery. The connection to it stays open for the next.
    fn deliver(
        &self,
        connection: &mut Option<(SocketAddr, Line)>,
        node: usize,
        parcel: &Parcel,
    ) -> bool {
        let Some(address) = self.address(node % NODES) else { return false };
        if connection.as_ref().is_none_or(|(to, _)| *to != address) {
            *connection = Line::open(address).ok().map(|line| (address, line));
        }
        let Some((_, line)) = connection else { return false };
        let status = line.deliver(parcel);
        if status.is_err() {
            *connection = None;
        }
        let is_acknowledged = status.is_ok_and(|status| (200..300).contains(&status));
        if is_acknowledged {
            self.ledger.acknowledge(&parcel.job_id, &parcel.body);
        }
        is_acknowledged
    }

    fn address(&self, number: usize) -> Option<SocketAddr> {
        // A node that is being started again is not waited for.
        let node = self.nodes[number].try_lock().ok()?;
        node.as_ref().map(|node| node.address)
    }

    /// Waits until everything is done. A busy machine may take long, but it never rests.
    fn finish(&self) {
        let schema = &self.database.schema;
        let open = format!(
            "SELECT job_id, state, attempts, document FROM {schema}.article_inbox_entries WHERE state <> 'done'"
        );
        let (mut since, mut fewest) = (Instant::now(), usize::MAX);
        loop {
            let open = self.database.run(&open);
            if open.is_empty() {
                return;
            }
            if open.len() < fewest {
                (since, fewest) = (Instant::now(), open.len());
            }
            assert!(since.elapsed() < RECOVERY, "nothing is done any more: {open:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Ends the senders.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
