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
    Health {
        writable: None,
        overdue: shared.inbox.due_for().await.map_err(|error| error.to_string()),
        store: shared.inbox.ledger().health().await.map_err(|error| error.to_string()),
    }
}
