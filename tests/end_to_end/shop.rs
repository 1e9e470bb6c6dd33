use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use article_webhook::{Delivery, Reply, Sink};
use bytes::Bytes;

/// The application behind a receiver: it keeps articles while it is open. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shop(Arc<Inside>);

#[derive(Debug, Default)]
struct Inside {
    is_closed: AtomicBool,
    articles: Mutex<BTreeMap<String, Kept>>,
}

/// An article, and how often it came while the shop was open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) body: Bytes,
    pub(crate) times: u32,
}

impl Shop {
    pub(crate) fn open(&self) {
        self.0.is_closed.store(false, Ordering::SeqCst);
    }

    pub(crate) fn close(&self) {
        self.0.is_closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn article(&self, job_id: &str) -> Option<Kept> {
        self.0.articles.lock().unwrap_or_else(PoisonError::into_inner).get(job_id).cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.articles.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Sink for Shop {
    async fn accept(&self, delivery: Delivery) -> Reply {
        if self.0.is_closed.load(Ordering::SeqCst) {
            return Reply::Unavailable;
        }
        let mut articles = self.0.articles.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = articles.entry(delivery.job_id().to_string());
        let kept = kept.or_insert_with(|| Kept { body: delivery.body().clone(), times: 0 });
        kept.times += 1;
        if kept.times == 1 { Reply::Stored } else { Reply::Duplicate }
    }
}
