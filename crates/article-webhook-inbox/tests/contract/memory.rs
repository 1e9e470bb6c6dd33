use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Clock, MemoryStore, store::Store};
use article_webhook_inbox_contract::Subject;

struct Memory {
    store: Arc<MemoryStore>,
    clock: Clock,
}

impl Memory {
    fn fresh() -> Self {
        let clock = crate::stepped();
        Self { store: Arc::new(MemoryStore::new(clock.clone())), clock }
    }
}

impl Subject for Memory {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
    }
}

article_webhook_inbox_contract::store_contract!(Memory::fresh());
