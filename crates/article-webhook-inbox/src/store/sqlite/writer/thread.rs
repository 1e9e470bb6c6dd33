use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use super::{
    checkpointer::Checkpointer,
    command_queue::{CloseOnDrop, CommandQueue, Next},
    committer::Committer,
    failure::too_busy,
};
use crate::{Error, store::sqlite::reader::Reader};

/// The thread that writes: it commits what waits, and copies the log into the database.
pub(super) struct WriterThread {
    pub(super) queue: Arc<CommandQueue>,
    pub(super) reader: Arc<Reader>,
    pub(super) committer: Committer,
}

impl WriterThread {
    /// Runs until the queue is closed and empty.
    pub(super) fn start(self) -> Result<JoinHandle<()>, Error> {
        let thread = thread::Builder::new().name("article-webhook-inbox".into());
        thread.spawn(move || self.run()).map_err(|error| {
            Error::unusable("no thread can be started for the store: raise the limit of threads")
                .because(error)
        })
    }

    fn run(mut self) {
        let _close = CloseOnDrop(self.queue.clone());
        let mut log = Checkpointer::new();
        loop {
            let connection = self.committer.connection();
            match self.queue.next(log.pause(connection)) {
                Next::Group(group, expired) => {
                    for command in expired {
                        command.answer(Some(too_busy()));
                    }
                    let bytes = self.committer.commit(group);
                    log.committed(self.committer.connection(), bytes);
                }
                Next::Idle => log.idle(connection),
                Next::End => break,
            }
        }
        self.reader.close();
        self.committer.connection().close();
    }
}
