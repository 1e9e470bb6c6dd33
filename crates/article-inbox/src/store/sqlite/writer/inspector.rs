use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::InterruptHandle;

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

/// A thread that looks for damage in a file that is too large to be searched before it is opened. It reads on a
/// connection of its own, and mends through the writer. Dropping this ends it.
pub(in crate::store::sqlite) struct Inspector {
    stop: Arc<AtomicBool>,
    interrupt: InterruptHandle,
    thread: Option<JoinHandle<()>>,
}

impl Inspector {
    pub(in crate::store::sqlite) fn start(
        path: &Path,
        clock: Clock,
        queue: Arc<CommandQueue>,
        findings: Arc<Findings>,
    ) -> Result<Self, Error> {
        let connection = connection::open_reader(path)?;
        let interrupt = connection.get_interrupt_handle();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let inspect = move || {
            give_way();
            let tx = Tx::new(&connection, &findings, rounded(clock.now()));
            let outcome = inspect(&tx, &queue, &findings);
            let Err(error) = outcome.map_err(Error::from) else { return };
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            telemetry::store_failed("check", &error);
            if error.is_damage() {
                findings.add(Part::Page, RESTORE.to_owned());
            }
        };
        let thread = thread::Builder::new().name("article-inbox-check".into()).spawn(inspect);
        let thread = thread.map_err(|error| store_has_stopped().because(error))?;
        Ok(Self { stop, interrupt, thread: Some(thread) })
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // An interruption reaches only a statement that runs.
        while !thread.is_finished() {
            self.interrupt.interrupt();
            thread::sleep(PAUSE);
        }
    }
}

/// Leaves the processors to threads that have work to do. Elsewhere than on Linux this would concern the whole process.
fn give_way() {
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
