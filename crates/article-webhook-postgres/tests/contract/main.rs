//! The store in PostgreSQL, held to the contract of every store, and what is particular to it behind a pooler.

#![allow(clippy::unwrap_used)] // a store that cannot be made fails its tests

#[path = "../common/bouncer.rs"]
mod bouncer;
#[path = "../common/log.rs"]
mod log;
#[path = "../common/scene.rs"]
mod scene;
#[path = "../common/server.rs"]
mod server;
#[path = "../common/subject.rs"]
mod subject;

mod pooler;

/// A new subject. Without a server, which is reported, the case ends.
macro_rules! fresh {
    () => {
        match $crate::server::shared_url() {
            Some(url) => $crate::subject::Postgres::fresh(url),
            None => return,
        }
    };
}

article_webhook_inbox_contract::store_contract!(fresh!());

mod with_an_application {
    article_webhook_inbox_contract::transactional_store_contract!(fresh!());
}

mod after_a_restart {
    article_webhook_inbox_contract::durable_store_contract!(fresh!());
}
