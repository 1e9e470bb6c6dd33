use std::time::SystemTime;

use article_webhook_inbox::Error;
use axum::{
    extract::{RawQuery, State},
    response::Response,
};
use maud::Markup;

use super::answer::{Page, page};
use crate::page::{
    query::Query,
    shared::Shared,
    view::{self, Listed},
};

pub(super) async fn list(State(shared): Page, RawQuery(query): RawQuery) -> Response {
    let query = Query::parse(query.as_deref().unwrap_or_default());
    page(read(&shared, &query).await, &shared)
}

async fn read(shared: &Shared, query: &Query) -> Result<Markup, Error> {
    let page = shared.inbox.list(query.filter()).await?;
    let causes = match query.requeued_at() {
        Some(at) => shared.inbox.causes_of_requeued(at).await?,
        None if query.is_all() => shared.inbox.causes().await?,
        None => Vec::new(),
    };
    let seen = shared.watch.seen().await;
    let listed = Listed { page, causes, now: SystemTime::now() };
    Ok(view::list(shared, query, &seen, &listed))
}
