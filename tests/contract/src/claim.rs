//! What tests do that need a claim and are not about claims.

use std::time::Duration;

use article_webhook_inbox::store::{Claim, Events, Outcome, Settled, Store};

/// A claim of one entry, for an hour.
pub const CLAIM_ONE: Claim = Claim {
    limit: 1,
    lease: Duration::from_secs(3600),
    attempts: 8,
    running: 0,
    events: Events::All,
    retries_first: false,
};

/// Claims the one entry that is due, and settles it.
pub async fn settle_one(store: &impl Store, outcome: Outcome) {
    let lease = store.claim(CLAIM_ONE).await.unwrap().claimed[0].lease;
    assert_eq!(store.settle(lease, outcome).await.unwrap(), Settled::Settled);
}
