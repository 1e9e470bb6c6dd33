use std::sync::{Arc, Mutex, PoisonError};

use article_webhook::{ArticleResult, Delivery, Refused, Rejection, Reply, Sink};
use bytes::Bytes;

/// The application behind a receiver. It writes down what it is asked to do.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<Vec<Entry>>>);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Accepted { job_id: String, event: String, target: String, body: Bytes },
    Handled { job_id: String, title: String },
    Refused { job_id: Option<String>, rejection: Rejection },
}

impl Ledger {
    fn write(&self, entry: Entry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// The entries since the last time.
    pub(super) fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The handler of the extractor style. Its error is a reason to come again.
    pub(super) async fn handle(self, result: ArticleResult) -> Result<(), &'static str> {
        let job_id = result.job_id.to_string();
        let retry = matches!(reply(&job_id), Reply::Retry | Reply::Unavailable);
        self.write(Entry::Handled { job_id, title: result.article.title });
        if retry { Err("the store is down") } else { Ok(()) }
    }
}

impl Sink for Ledger {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let job_id = delivery.job_id().to_string();
        let reply = reply(&job_id);
        self.write(Entry::Accepted {
            job_id,
            event: delivery.event().to_string(),
            target: delivery.target().to_owned(),
            body: delivery.body().clone(),
        });
        reply
    }

    fn refused(&self, refused: &Refused) {
        let job_id = refused.job_id().map(ToString::to_string);
        self.write(Entry::Refused { job_id, rejection: refused.rejection().clone() });
    }
}

/// The job chooses the reply, so that the input does.
fn reply(job_id: &str) -> Reply {
    match job_id {
        "job_duplicate" => Reply::Duplicate,
        "job_ignored" => Reply::Ignored,
        "job_retry" => Reply::Retry,
        "job_unavailable" => Reply::Unavailable,
        _ => Reply::Stored,
    }
}
