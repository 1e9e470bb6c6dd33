use std::sync::Mutex;

use article_webhook_inbox::store::{Arrival, Store};
use tokio::sync::Semaphore;
use tokio_postgres::{Client, Statement, types::Type};

/// What an application would write: one transaction per delivery, on a pool of as many connections as the store has.
///
/// It is as fast as that can be: one statement, which commits by itself, so that a delivery is one round trip. It has the tables
/// and indexes of the store, and the same promise, but for what the store checks.
pub(crate) struct Naive {
    free: Semaphore,
    idle: Mutex<Vec<(Client, Option<Statement>)>>,
    statement: String,
}

/// Whether the statement is prepared once for each connection. The store's are not, because the connection of a pooler such as
/// PgBouncer changes between transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    Prepared,
    Unnamed,
}

/// How many connections the store has for deliveries.
const CONNECTIONS: usize = 4;

/// The statement. The job, the digest and the body are expressions.
pub(crate) fn statement(schema: &str, job_id: &str, digest: &str, body: &str) -> String {
    format!(
        "WITH added AS (INSERT INTO {schema}.article_inbox_entries (job_id, event, received_at, state, attempts, fence, at, lease_end, \
         since, held, target, document, checksum) \
         SELECT {job_id}, 'article.complete', now, 'waiting', 0, 0, now, now, now, 1, 'blog', '{{}}', 0 \
         FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) clock \
         ON CONFLICT (job_id, event) DO NOTHING RETURNING id, received_at) \
         INSERT INTO {schema}.article_inbox_bodies (entry, slot, received_at, digest, document, checksum, body) \
         SELECT id, 0, received_at, {digest}, '{{\"source\":\"webhook\",\"target\":\"blog\"}}', 0, {body} FROM added"
    )
}

impl Naive {
    /// Connects, and makes the tables in a schema of their own.
    pub(crate) async fn connect(url: &str, schema: &str, naming: Naming) -> Self {
        crate::store(url, schema).await.close().await.unwrap();
        let statement = statement(schema, "$1", "$2", "$3");
        let mut idle = Vec::new();
        for _ in 0..CONNECTIONS {
            let client = crate::connect(url).await;
            let prepared = match naming {
                Naming::Prepared => Some(client.prepare(&statement).await.unwrap()),
                Naming::Unnamed => None,
            };
            idle.push((client, prepared));
        }
        Self { free: Semaphore::new(CONNECTIONS), idle: Mutex::new(idle), statement }
    }

    /// Returns once the delivery is on disk.
    pub(crate) async fn record(&self, arrival: &Arrival) {
        let _free = self.free.acquire().await.unwrap();
        let (client, prepared) = self.idle.lock().unwrap().pop().unwrap();
        let (job_id, digest) = (arrival.key.job_id.as_str(), &arrival.digest.as_bytes()[..]);
        let body = &*arrival.bytes;
        let added = match &prepared {
            Some(statement) => client.execute(statement, &[&job_id, &digest, &body]).await,
            None => {
                let types = [
                    (&job_id as _, Type::TEXT),
                    (&digest as _, Type::BYTEA),
                    (&body as _, Type::BYTEA),
                ];
                client.execute_typed(&self.statement, &types).await
            }
        };
        assert_eq!(added.unwrap(), 1, "every job is another");
        self.idle.lock().unwrap().push((client, prepared));
    }
}
