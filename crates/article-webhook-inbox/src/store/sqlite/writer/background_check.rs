mod search;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

pub(in crate::store::sqlite) use self::search::Search;
use super::{command_queue::CommandQueue, failure::store_has_stopped};
use crate::{
    Clock, Error,
    store::sqlite::{
        connection,
        damage::{Findings, Part, RESTORE, Tx, advice, build_again, integrity},
        fault::Fault,
        statements,
    },
    telemetry,
    timestamp::rounded,
};

/// The pause between two attempts to end a statement.
const PAUSE: Duration = Duration::from_millis(2);

/// The pause after which a search that gave way begins again: the writer looks after the log each second.
const REST: Duration = Duration::from_secs(2);

/// A thread that looks for damage in a file that is too large to be searched before it is opened. It reads on a
/// connection of its own, and mends through the writer. Dropping this ends it.
pub(in crate::store::sqlite) struct BackgroundCheck {
    stop: Arc<AtomicBool>,
    search: Arc<Search>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundCheck {
    pub(in crate::store::sqlite) fn start(
        path: &Path,
        clock: Clock,
        queue: Arc<CommandQueue>,
        (findings, search): (Arc<Findings>, Arc<Search>),
    ) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, searching, path) = (stop.clone(), search.clone(), path.to_owned());
        let inspect = move || {
            take_lowest_priority();
            // While it rests it has no connection, so that the store can be alone with its files.
            let attempt = || {
                let connection = connection::open_reader(&path)?;
                let _running = searching.begin(connection.get_interrupt_handle());
                inspect(&Tx::new(&connection, &findings, rounded(clock.now())), &queue, &findings)
            };
            while !stopped.load(Ordering::Relaxed) {
                let Err(fault) = attempt() else { return };
                let gave_way = fault.is_interrupted();
                let error = Error::from(fault);
                if !gave_way && !stopped.load(Ordering::Relaxed) {
                    telemetry::store_failed("check", &error);
                    if error.is_damage() {
                        findings.add(Part::Page, RESTORE.to_owned());
                    }
                    if !error.is_transient() {
                        return;
                    }
                }
                thread::park_timeout(REST);
            }
        };
        let thread = thread::Builder::new().name("article-inbox-check".into()).spawn(inspect);
        let thread = thread.map_err(|error| store_has_stopped().because(error))?;
        Ok(Self { stop, search, thread: Some(thread) })
    }
}

impl Drop for BackgroundCheck {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // An interruption reaches only a statement that runs.
        while !thread.is_finished() {
            thread.thread().unpark();
            self.search.interrupt();
            thread::sleep(PAUSE);
        }
    }
}

/// Leaves the processors to threads that have work to do. Elsewhere than on Linux this would concern the whole process.
fn take_lowest_priority() {
    #[cfg(target_os = "linux")]
    let _without = rustix::process::setpriority_process(None, 19);
}

fn inspect(tx: &Tx<'_>, queue: &CommandQueue, findings: &Arc<Findings>) -> Result<(), Fault> {
    let mut found = integrity(tx)?;
    if !found.indexes.is_empty() {
        match mend(queue, findings, build_again) {
            // SQLite may be unable to remove an index with damaged pages.
            Err(fault) if !found.has_damaged_index_pages => return Err(fault),
            _ => found = integrity(tx)?,
        }
    }
    if !found.is_sound() {
        tx.found(Part::Page, advice(tx, &found)?.to_owned());
    }
    let suspects = statements::scan(tx)?;
    if !suspects.is_empty() {
        mend(queue, findings, move |tx| statements::isolate(tx, &suspects))?;
    }
    Ok(())
}

/// Mends in a transaction of the writer, and waits for it.
fn mend(
    queue: &CommandQueue,
    findings: &Arc<Findings>,
    mend: impl Fn(&Tx<'_>) -> Result<(), Fault> + Send + 'static,
) -> Result<(), Fault> {
    let findings = Arc::clone(findings);
    let answer =
        queue.push(0, move |connection, now| mend(&Tx::new(connection, &findings, now)))?;
    Ok(answer.wait_in_a_thread()?)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Instant};

    use rusqlite::{Connection, ErrorCode};

    use super::*;
    use crate::store::sqlite::{
        connection::Access,
        files::Lock,
        writer::{Handle, Shared, WriteConnection},
    };

    /// A store with a damaged entry, and its search, which does not run yet.
    fn store(path: &Path) -> (Handle, Arc<Search>) {
        let lock = Lock::take(path).unwrap();
        let connection = connection::open(path, Access::Exclusive).unwrap();
        connection::make_durable(&connection, path, Access::Exclusive).unwrap();
        let shared = Shared::new(path.to_owned(), Clock::system());
        let search = Arc::clone(&shared.search);
        let connection = WriteConnection::new(shared.clone(), connection, Some(lock), None);
        let handle = Handle::start(shared, connection).unwrap();
        let entry = |connection: &Connection, _| {
            let entry = "INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, received_at, \
                conflicts, held, checksum) VALUES ('job_1', 'article.complete', 'done', 1, 1, 0, 0, 0, 0, 0)";
            Ok(connection.execute(entry, [])?)
        };
        handle.queue.push(1, entry).unwrap().wait_in_a_thread().unwrap();
        (handle, search)
    }

    /// What is erased must leave the log, which no reader may use then.
    #[test]
    fn a_statement_of_the_search_ends_for_a_call_that_erases() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let (handle, search) = store(&path);
        let reader = connection::open_reader(&path).unwrap();
        let running = search.begin(reader.get_interrupt_handle());
        let (began, begins) = mpsc::channel();
        let reading = thread::spawn(move || {
            let _running = running;
            let endless = "WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row) \
                SELECT n FROM row, article_inbox_meta";
            let mut statement = reader.prepare(endless).unwrap();
            let mut rows = statement.query([]).unwrap();
            loop {
                if let Err(error) = rows.next() {
                    return error.sqlite_error_code();
                }
                let _ = began.send(());
            }
        });
        begins.recv().unwrap();
        let probe = |connection: &Connection, _| statements::probe(connection);
        let erased = handle.queue.push_erasing(1, probe).unwrap().wait_in_a_thread();
        assert!(erased.is_ok(), "{erased:?}");
        assert_eq!(reading.join().unwrap(), Some(ErrorCode::OperationInterrupted));
    }

    #[test]
    fn a_search_that_gave_way_begins_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let (handle, search) = store(&path);
        let many = "CREATE TABLE many (n INTEGER NOT NULL); WITH RECURSIVE row (n) AS \
            (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 300000) INSERT INTO many SELECT n FROM row";
        Connection::open(&path).unwrap().execute_batch(many).unwrap();
        handle.inspect().unwrap();
        let began = Instant::now();
        while began.elapsed() < REST / 4 {
            search.interrupt();
            thread::sleep(PAUSE);
        }
        assert_eq!(handle.findings.all(), [""; 0], "it was interrupted");
        while handle.findings.all().is_empty() {
            assert!(began.elapsed() < 30 * REST, "it has ended");
            thread::sleep(PAUSE);
        }
    }
}
