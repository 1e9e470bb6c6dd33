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
    view::{self, Listed, Query},
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
    let seen = shared.watch.seen().await;
    let listed = Listed { page, now: SystemTime::now() };
    Ok(view::list(shared, query, seen, &listed))
}
