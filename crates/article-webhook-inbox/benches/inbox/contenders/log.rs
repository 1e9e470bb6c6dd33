use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::FileExt,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    thread::{self, JoinHandle},
};

use article_webhook_inbox::store::Arrival;
use tokio::sync::oneshot;

const BYTES: u64 = 128 << 20;

/// The physical limit: a log that is only appended to, in preallocated space, with one sync for all deliveries that wait.
/// Nothing could be found in it again, and nothing removed.
#[derive(Debug)]
pub(crate) struct Log {
    line: Arc<Line>,
    thread: Option<JoinHandle<()>>,
}

type Waiting = (Arrival, oneshot::Sender<()>);

#[derive(Debug, Default)]
struct Line {
    waiting: Mutex<(Vec<Waiting>, bool)>,
    changed: Condvar,
}

impl Log {
    pub(crate) fn open(folder: &Path) -> Self {
        let mut options = OpenOptions::new();
        let mut file = options.create_new(true).write(true).open(folder.join("log")).unwrap();
        let zeros = vec![0; 1 << 20];
        (0..BYTES >> 20).for_each(|_| file.write_all(&zeros).unwrap());
        file.sync_all().unwrap();
        let line = Arc::new(Line::default());
        let thread = thread::spawn({
            let line = Arc::clone(&line);
            move || write(&line, &file)
        });
        Self { line, thread: Some(thread) }
    }

    pub(crate) async fn record(&self, arrival: Arrival) {
        let (sender, stored) = oneshot::channel();
        self.line.waiting.lock().unwrap().0.push((arrival, sender));
        self.line.changed.notify_one();
        stored.await.unwrap();
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.line.waiting.lock().unwrap().1 = true;
        self.line.changed.notify_one();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn write(line: &Line, file: &File) {
    let mut offset = 0;
    let mut group = Vec::new();
    let mut bytes = Vec::new();
    loop {
        let is_quiet =
            |(waiting, is_closed): &mut (Vec<_>, bool)| waiting.is_empty() && !*is_closed;
        let mut waiting = line.changed.wait_while(line.waiting.lock().unwrap(), is_quiet).unwrap();
        if waiting.0.is_empty() {
            return;
        }
        std::mem::swap(&mut group, &mut waiting.0);
        drop(waiting);
        bytes.clear();
        for (arrival, _) in &group {
            bytes.extend_from_slice(arrival.key.job_id.as_str().as_bytes());
            bytes.extend_from_slice(arrival.digest.as_bytes());
            bytes.extend_from_slice(&arrival.bytes);
        }
        let length = bytes.len() as u64;
        if offset + length > BYTES {
            offset = 0; // begins again at the start, because nothing is ever read
        }
        file.write_all_at(&bytes, offset).unwrap();
        file.sync_data().unwrap();
        offset += length;
        for (_, sender) in group.drain(..) {
            let _ = sender.send(());
        }
    }
}
