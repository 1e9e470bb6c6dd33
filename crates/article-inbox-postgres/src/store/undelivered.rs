use std::sync::Arc;

use article_inbox::store::Claims;

use crate::{
    connection::{Database, Lane},
    statements,
};

/// The result of a claim on its way to its caller. If that is gone, no worker runs what was leased, so it is given back.
pub(super) struct Undelivered {
    claims: Option<Claims>,
    database: Arc<Database>,
}

impl Undelivered {
    pub(super) fn new(claims: Claims, database: Arc<Database>) -> Self {
        Self { claims: Some(claims), database }
    }

    pub(super) fn deliver(mut self) -> Claims {
        self.claims.take().unwrap_or_default()
    }
}

impl Drop for Undelivered {
    fn drop(&mut self) {
        let leases = self.claims.take().unwrap_or_default().claimed;
        let leases: Vec<_> = leases.iter().map(|claimed| claimed.lease).collect();
        if leases.is_empty() {
            return;
        }
        let database = Arc::clone(&self.database);
        self.database.connections.runtime.spawn(async move {
            // If this fails, the leases end by themselves.
            let _ = database.transact(Lane::Working, leases, statements::release).await;
        });
    }
}
