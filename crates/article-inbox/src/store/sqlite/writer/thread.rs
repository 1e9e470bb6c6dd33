use std::{
    fs::File,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    command_queue::{CloseOnDrop, CommandQueue, Next},
    committer::Committer,
    failure::too_busy,
};
use crate::{Error, store::sqlite::reader::Reader};

/// The log is copied into the database once it has grown by this much, after the callers were answered …
const CHECKPOINT_BYTES: u64 = 4 << 20;

/// … or once no call has come for this long.
const IDLE: Duration = Duration::from_millis(250);

/// The thread that writes: it commits what waits, copies the log into the database, and holds the lock file.
pub(super) struct WriterThread {
    pub(super) queue: Arc<CommandQueue>,
    pub(super) reader: Arc<Reader>,
    pub(super) committer: Committer,
    pub(super) lock: Option<File>,
}

impl WriterThread {
    /// Runs until the queue is closed and empty.
    pub(super) fn start(self) -> Result<JoinHandle<()>, Error> {
        let thread = thread::Builder::new().name("article-inbox".into());
        thread.spawn(move || self.run()).map_err(|error| {
            Error::unusable("no thread can be started for the store: raise the limit of threads")
                .because(error)
        })
    }

    fn run(mut self) {
        let _close = CloseOnDrop(self.queue.clone());
        let mut log = LogGrowth::default();
        loop {
            let idle = (self.committer.may_checkpoint() && log.bytes > 0).then_some(IDLE);
            match self.queue.next(idle) {
                Next::Group(group, expired) => {
                    for command in expired {
                        command.answer(Some(too_busy()));
                    }
                    log.bytes += self.committer.commit(group);
                    if self.committer.may_checkpoint() && log.bytes >= log.limit {
                        self.checkpoint(&mut log);
                    }
                }
                Next::Idle => self.checkpoint(&mut log),
                Next::End => break,
            }
        }
        self.reader.close();
        self.committer.close();
        drop(self.lock);
    }

    fn checkpoint(&mut self, log: &mut LogGrowth) {
        if let Some(left) = self.committer.checkpoint() {
            // If a reader prevented the rest from being copied, it counts towards the next checkpoint.
            let left = left.unwrap_or(log.bytes);
            let limit = CHECKPOINT_BYTES.saturating_sub(left).max(CHECKPOINT_BYTES / 4);
            *log = LogGrowth { bytes: 0, limit };
        }
    }
}

/// How much the log has grown since the last checkpoint, roughly, and how much it may grow before the next.
struct LogGrowth {
    bytes: u64,
    limit: u64,
}

impl Default for LogGrowth {
    fn default() -> Self {
        Self { bytes: 0, limit: CHECKPOINT_BYTES }
    }
}
