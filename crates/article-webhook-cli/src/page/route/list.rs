use std::time::SystemTime;

use article_webhook_inbox::{Error, Page as Entries};
use axum::{
    extract::{RawQuery, State},
    response::Response,
};
use maud::Markup;

use super::answer::{Page, page};
use crate::page::{
    shared::Shared,
    view::{self, Listed, Query, TITLE_BYTES},
};

pub(super) async fn list(State(shared): Page, RawQuery(query): RawQuery) -> Response {
    let query = Query::parse(query.as_deref().unwrap_or_default());
    page(read(&shared, &query).await, &shared)
}

async fn read(shared: &Shared, query: &Query) -> Result<Markup, Error> {
    let page = match query.filter() {
        Some(filter) => shared.inbox.list(filter).await?,
        None => Entries::default(),
    };
    let keys = page.entries.iter().map(|entry| entry.key.clone()).collect();
    let excerpts = shared.inbox.excerpts(keys, TITLE_BYTES).await?;
    let seen = shared.watch.seen().await;
    let listed = Listed { page, excerpts, now: SystemTime::now() };
    Ok(view::list(shared, query, seen, &listed))
}
