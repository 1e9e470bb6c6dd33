use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use http::StatusCode;

use super::answer::Page;
use crate::page::view;

/// How often a comment is sent where nothing changes. A page that was closed is noticed when it does not take one.
const BEAT: Duration = Duration::from_secs(2);

/// Tells an open page that something has changed. It then reads itself again.
pub(super) async fn events(State(shared): Page) -> Response {
    let Ok(permit) = Arc::clone(&shared.listeners).try_acquire_owned() else {
        let page = view::too_many(&shared.access);
        return (StatusCode::SERVICE_UNAVAILABLE, page).into_response();
    };
    let changes = (shared.watch.changes(), permit);
    let events = stream::unfold(changes, async |(mut changes, permit)| {
        let revision = changes.next().await?;
        let event = Event::default().event("change").data(format!("{revision:016x}"));
        Some((Ok::<_, Infallible>(event), (changes, permit)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(BEAT)).into_response()
}
