use axum::{
    extract::State,
    response::{IntoResponse, Response},
};

use super::answer::Page;
use crate::page::{
    shared::{Buttons, Shared},
    view::{self, Health},
};

pub(super) async fn health(State(shared): Page) -> Response {
    view::health(&shared, &look(&shared).await).into_response()
}

async fn look(shared: &Shared) -> Health {
    if shared.buttons == Buttons::Shown {
        let health = shared.inbox.health().await;
        let writable = Some(health.writable);
        return Health { writable, overdue: health.overdue, store: health.store };
    }
    let ledger = shared.inbox.ledger();
    let age = |since| ledger.now().duration_since(since).unwrap_or_default();
    let overdue = ledger.due_since().await.map(|since| since.map(age));
    Health {
        writable: None,
        overdue: overdue.map_err(|error| error.to_string()),
        store: ledger.health().await.map_err(|error| error.to_string()),
    }
}
