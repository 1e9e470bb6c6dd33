use std::{sync::Arc, time::SystemTime};

use article_webhook_inbox::{Counts, Entry, Page, State as EntryState};
use axum::extract::{RawQuery, State};
use maud::{Markup, html};

use super::{
    components::{age, badge, command, entry_path, list_path, number, size, text},
    layout::{self, Place},
    missed::Missed,
    overview,
    panel::panel,
};
use crate::{
    page::{query::Query, shared::Shared},
    text::{command as shown_command, escape::cut},
};

pub(in crate::page) async fn list(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
) -> Result<Markup, Missed> {
    let (query, now) = (Query::parse(query.as_deref().unwrap_or_default()), SystemTime::now());
    let page = shared.inbox.list(query.filter()).await?;
    // Why entries need a person; of what was requeued, what became of it.
    let causes = match query.requeued_at() {
        Some(at) => shared.inbox.causes_of_requeued(at).await?,
        None if query.is_all() => shared.inbox.causes().await?,
        None => Vec::new(),
    };
    let seen = shared.watch.seen().await;
    let (shared, query, causes) = (&*shared, &query, &causes[..]);
    let counts = match query.requeued {
        Some(_) => Some(causes.iter().map(|group| (group.state, group.count)).collect()),
        None => seen.counts,
    };
    let content = html! {
        (panel(shared))
        @if query.read > 0 {
            p.notice role="status" { (number(query.read)) " in quarantine could be read now: each is an entry in the list below." }
        }
        @if let Some(at) = query.requeued_at() {
            (overview::requeued(shared, at, causes, now))
        } @else if query.is_all() {
            (overview::overview(shared, causes, seen.hours.as_deref(), now))
        }
        div.tools {
            h1 { "Entries" }
            (search(shared, query))
        }
        @if !query.cause.is_empty() {
            p.narrowed { "Only those with this cause: " span.cause { (text(&query.cause)) } " " a href=(list_path(shared, &Query { cause: String::new(), ..query.first_page() })) { "All causes" } }
        }
        (states(shared, query, counts))
        div.live #list data-live="list" {
            @if page.items.is_empty() {
                (empty(shared, query))
            } @else {
                (table(shared, query, &page.items, now))
            }
        }
        (pager(shared, query, &page))
    };
    Ok(layout::page(shared, Place::Entries, "Entries", &content))
}

/// One field. The other conditions of the list stay.
fn search(shared: &Shared, query: &Query) -> Markup {
    let requeued = query.requeued.map(|at| at.to_string()).unwrap_or_default();
    let kept = [
        ("state", query.state.map(EntryState::as_str).unwrap_or_default()),
        ("cause", &query.cause),
        ("requeued", &requeued),
    ];
    html! {
        form.search method="get" action=(shared.access.path("/")) role="search" {
            @for (name, value) in kept {
                @if !value.is_empty() { input type="hidden" name=(name) value=(value); }
            }
            label.hidden for="search" { "A part of a job id, a title or a cause" }
            input #search type="search" name="q" value=(query.search) placeholder="Job id, title or cause" autocomplete="off" spellcheck="false";
            button type="submit" { "Find" }
        }
    }
}

fn states(shared: &Shared, query: &Query, counts: Option<Counts>) -> Markup {
    let tab = |name: &str, state: Option<EntryState>| {
        let path = list_path(shared, &Query { state, ..query.first_page() });
        let count = counts.map(|counts| state.map_or(counts.total(), |state| counts.of(state)));
        html! {
            a href=(path) data-state=[state.map(EntryState::as_str)] data-some=[(count.unwrap_or_default() > 0).then_some("")] aria-current=[(query.state == state).then_some("true")] {
                span.name { (name) }
                span.count { @match count { Some(count) => (number(count)), None => "–" } }
            }
        }
    };
    html! {
        nav.states #states data-live="states" aria-label="Entries by state" {
            (tab("all", None))
            @for &state in EntryState::ALL { (tab(state.as_str(), Some(state))) }
        }
    }
}

/// A column in which all rows of the page say the same is left out.
fn table(shared: &Shared, query: &Query, entries: &[Entry], now: SystemTime) -> Markup {
    let differ = |is_other: fn(&Entry, &Entry) -> bool| {
        entries.windows(2).any(|pair| is_other(&pair[0], &pair[1]))
    };
    let has_event = differ(|one, other| one.key.event != other.key.event);
    let has_source = differ(|one, other| one.source != other.source);
    let has_size = differ(|one, other| one.length != other.length);
    html! {
        table.entries {
            caption.hidden { "Entries, the newest first" }
            thead {
                tr {
                    th.state scope="col" { "State" }
                    th.what scope="col" { "Article" }
                    @if has_event { th.event scope="col" { "Event" } }
                    @if has_source { th.source scope="col" { "Came by" } }
                    @if has_size { th.size scope="col" { "Size" } }
                    th.attempts scope="col" { "Attempts" }
                    th.age scope="col" { "Received" }
                }
            }
            tbody {
                @for entry in entries {
                    tr id={"entry-" (entry.id)} {
                        td.state { (badge(entry.state)) }
                        td.what {
                            a href={ (entry_path(shared, &entry.key)) (query.for_entry(None)) } { (about(entry, now)) }
                        }
                        @if has_event { td.event { (text(entry.key.event.as_str())) } }
                        @if has_source { td.source { (entry.source.as_str()) } }
                        @if has_size { td.size { @if let Some(length) = entry.length { (size(length)) } } }
                        td.attempts { (entry.attempts) span.hidden { " attempts" } }
                        td.age { (age(entry.received_at, now)) }
                    }
                }
            }
        }
    }
}

fn about(entry: &Entry, now: SystemTime) -> Markup {
    html! {
        @match &entry.title {
            Some(title) => span.title { (text(&cut(title))) },
            None => span.title.none { "No title" },
        }
        span.more {
            span.job { (text(entry.key.job_id.as_str())) }
            @if entry.state == EntryState::Waiting && (entry.attempts > 0 || entry.at > now) {
                span.next { "next attempt " @if entry.at > now { (age(entry.at, now)) } @else { "is due" } }
            }
            @if let Some(cause) = &entry.cause { span.cause { (text(&cut(cause))) } }
        }
    }
}

fn empty(shared: &Shared, query: &Query) -> Markup {
    let send = shown_command::send(&shared.receiver);
    html! {
        div.empty {
            @if !query.is_all() {
                h2 { "No entry matches" }
                p { @if !query.search.is_empty() { "A search looks into job ids, titles and the beginnings of causes. " } a href=(shared.access.path("/")) { "See all entries" } }
            } @else if shared.panel.is_some() {
                h2 { "Nothing has arrived yet" }
                p { "Press a button above. What arrives appears here by itself." }
            } @else if shared.has_receiver {
                h2 { "Nothing has arrived yet" }
                p { "What is delivered to " (shared.receiver) " appears here by itself. To see one article now:" }
                (command(&send))
                p.quiet { "It needs the token in ARTICLE_WEBHOOK_TOKEN. If a delivery does not appear: " a href=(shared.access.path("/refused")) { "see what was refused, and why" } "." }
            } @else {
                h2 { "Nothing has arrived yet" }
                p { "What a receiver stores in this inbox appears here by itself. To see one article now, receive with this inbox, and deliver to it from another terminal:" }
                (command(&shown_command::listen(&shared.name)))
                (command(&send))
                p.quiet { "Both need the token in ARTICLE_WEBHOOK_TOKEN. If deliveries should be here and are not: " a href=(shared.access.path("/health")) { "see the health of the inbox" } "." }
            }
        }
    }
}

fn pager(shared: &Shared, query: &Query, page: &Page<Entry>) -> Markup {
    html! {
        nav.pager #pager data-live="pager" aria-label="Pages of the list" {
            @if query.after != 0 {
                a href=(list_path(shared, &query.first_page())) rel="first" { "← Newest" }
            }
            span.spacer {}
            @if let Some(next) = page.next {
                a href=(list_path(shared, &Query { after: next, ..query.clone() })) rel="next" { "Older →" }
            }
        }
    }
}
