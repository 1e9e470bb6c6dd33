use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use article_inbox::{
    Error,
    store::{Arrival, Recorded},
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};

use crate::{
    connection::{Database, Lane, Length},
    fault::{Fault, late},
    statements,
};

/// How many deliveries and bytes may wait.
const WAITING: usize = 4096;
const WAITING_BYTES: usize = 64 << 20;

/// How many deliveries and bytes share a transaction.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 8 << 20;

/// How long a delivery waits for its transaction to begin. After that its caller has given up.
const PATIENCE: Duration = Duration::from_secs(2);

/// Stores deliveries, and those that arrive together in one transaction: while every connection is busy they wait, and the
/// next connection takes all that wait.
pub(crate) struct Recorder {
    database: Arc<Database>,
    waiting: Mutex<Waiting>,
    /// One for each connection, so that a batch is taken only when it can be sent.
    turns: Semaphore,
}

#[derive(Default)]
struct Waiting {
    deliveries: VecDeque<Delivery>,
    bytes: usize,
}

struct Delivery {
    arrival: Arrival,
    since: Instant,
    answer: oneshot::Sender<Result<Recorded, Error>>,
}

impl Recorder {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        let turns = Semaphore::new(database.settings.receiving);
        Self { database, waiting: Mutex::default(), turns }
    }

    /// Stores a delivery. Its transaction goes on if this future is dropped.
    pub(crate) async fn record(self: &Arc<Self>, arrival: Arrival) -> Result<Recorded, Error> {
        let call = self.database.connections.call().await?;
        let (answer, answered) = oneshot::channel();
        self.lock().add(Delivery { arrival, since: Instant::now(), answer })?;
        let recorder = Arc::clone(self);
        self.database.connections.runtime.spawn(async move {
            recorder.store_batch().await;
            drop(call);
        });
        answered.await.unwrap_or_else(|_| Err(Error::unavailable("the store has stopped")))
    }

    /// Stores what waits once a connection is free. If an earlier batch took the delivery that this is called for, that may
    /// be nothing.
    async fn store_batch(&self) {
        let Ok(_turn) = self.turns.acquire().await else { return };
        let batch = self.lock().take();
        if batch.is_empty() {
            return;
        }
        let (arrivals, answers): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|delivery| (delivery.arrival, delivery.answer)).unzip();
        match self.store(&arrivals).await {
            Ok(recorded) => {
                for (answer, recorded) in answers.into_iter().zip(recorded) {
                    // A caller that is gone needs no answer.
                    let _ = answer.send(Ok(recorded));
                }
            }
            Err(fault) if fault.is_of_the_values() && arrivals.len() > 1 => {
                for (arrival, answer) in arrivals.into_iter().zip(answers) {
                    let stored = self.store(&[arrival]).await;
                    let _ = answer.send(match stored {
                        Ok(recorded) => Ok(recorded[0]),
                        Err(fault) => Err(fault.into()),
                    });
                }
            }
            Err(fault) => {
                let error = Error::from(fault);
                for answer in answers {
                    let _ = answer.send(Err(copy(&error)));
                }
            }
        }
    }

    async fn store(&self, arrivals: &[Arrival]) -> Result<Vec<Recorded>, Fault> {
        self.database.retried(Lane::Receiving, Length::Call, arrivals, statements::record).await
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, delivery: Delivery) -> Result<(), Error> {
        let bytes = delivery.arrival.bytes.len();
        if self.deliveries.len() >= WAITING {
            return Err(Error::unavailable("the store is too busy: too many deliveries wait"));
        }
        if self.bytes + bytes > WAITING_BYTES {
            return Err(Error::unavailable("the store is too busy: too many bytes wait"));
        }
        self.bytes += bytes;
        self.deliveries.push_back(delivery);
        Ok(())
    }

    /// The oldest deliveries that are still waited for. The others are answered.
    fn take(&mut self) -> Vec<Delivery> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.deliveries.front() {
            let size = next.arrival.bytes.len();
            if batch.len() == BATCH || (bytes > 0 && bytes + size > BATCH_BYTES) {
                break;
            }
            let Some(delivery) = self.deliveries.pop_front() else { break };
            self.bytes -= size;
            if delivery.since.elapsed() > PATIENCE {
                let _ = delivery.answer.send(Err(late("waiting for a connection", PATIENCE)));
            } else if !delivery.answer.is_closed() {
                bytes += size;
                batch.push(delivery);
            }
        }
        batch
    }
}

/// The same error, for another caller.
fn copy(error: &Error) -> Error {
    let text = error.to_string();
    let copy = match error {
        _ if error.is_transient() => Error::unavailable(text),
        _ if error.is_damage() => Error::damaged(text),
        _ if error.is_invalid() => Error::invalid(text),
        _ => Error::unusable(text),
    };
    match std::error::Error::source(error) {
        Some(source) => copy.because(source.to_string()),
        None => copy,
    }
}

#[cfg(test)]
mod tests {
    use article_inbox::{Digest, EntryKey, Source};

    use super::*;

    fn delivery(bytes: usize) -> (Delivery, oneshot::Receiver<Result<Recorded, Error>>) {
        let (answer, answered) = oneshot::channel();
        let arrival = Arrival {
            key: EntryKey::article("job_1".parse().unwrap()),
            source: Source::Webhook,
            target: "default".into(),
            intent: None,
            digest: Digest::of(b""),
            bytes: vec![0; bytes].into(),
        };
        (Delivery { arrival, since: Instant::now(), answer }, answered)
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_is_bounded_and_leaves_out_what_was_given_up() {
        let mut waiting = Waiting::default();
        let mut answers = Vec::new();
        for bytes in [BATCH_BYTES / 2, BATCH_BYTES / 2, 1] {
            let (delivery, answered) = delivery(bytes);
            waiting.add(delivery).unwrap();
            answers.push(answered);
        }
        drop(answers.remove(0));
        assert_eq!(waiting.take().len(), 2, "the first was given up");
        assert_eq!((waiting.bytes, waiting.deliveries.len()), (0, 0));

        let (late, answered) = delivery(1);
        waiting.add(late).unwrap();
        tokio::time::advance(PATIENCE * 2).await;
        assert!(waiting.take().is_empty());
        assert!(answered.await.unwrap().unwrap_err().is_transient());

        let (large, _answered) = delivery(WAITING_BYTES + 1);
        assert_eq!(
            waiting.add(large).unwrap_err().to_string(),
            "the store is too busy: too many bytes wait"
        );
    }
}
