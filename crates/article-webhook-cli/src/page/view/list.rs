use std::time::SystemTime;

use article_webhook_inbox::{Entry, Filter, ListOrder, Page, State};
use maud::{Markup, html};
use url::form_urlencoded::{Serializer, parse};

use super::{
    components::{age, badge, command, entry_path, number, size, text},
    layout::{self, Place},
    panel::panel,
};
use crate::{
    page::{shared::Shared, watch::Seen},
    text::{command as shown_command, escape::cut},
};

/// Entries on a page.
const LENGTH: u32 = 50;

/// What the reader asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::page) struct Query {
    state: Option<State>,
    /// As it was typed.
    job: String,
    event: String,
    after: i64,
}

impl Query {
    /// Of the query of a URL. What has no meaning is left out.
    pub(in crate::page) fn parse(query: &str) -> Self {
        let mut read = Self::default();
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "state" => read.state = State::from_name(&value),
                "job" => read.job = value.trim().to_owned(),
                "event" => read.event = value.trim().to_owned(),
                "after" => read.after = value.parse().unwrap_or_default(),
                _ => {}
            }
        }
        read
    }

    /// `None`: no entry can match, because this is no job id.
    pub(in crate::page) fn filter(&self) -> Option<Filter> {
        let job_id = match self.job.as_str() {
            "" => None,
            job => Some(job.parse().ok()?),
        };
        let event = (!self.event.is_empty()).then(|| self.event.as_str().into());
        let (state, after, limit) = (self.state, self.after.max(0), LENGTH);
        let order = ListOrder::NewestFirst;
        Some(Filter { state, job_id, event, after, order, limit, ..Filter::default() })
    }

    fn is_narrowed(&self) -> bool {
        self.state.is_some() || !self.job.is_empty() || !self.event.is_empty()
    }

    fn path(&self, shared: &Shared) -> String {
        shared.access.path(&format!("/{}", self.text()))
    }

    /// What follows the path.
    fn text(&self) -> String {
        let mut query = Serializer::new(String::new());
        if let Some(state) = self.state {
            query.append_pair("state", state.as_str());
        }
        for (name, value) in [("job", &self.job), ("event", &self.event)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if self.after != 0 {
            query.append_pair("after", &self.after.to_string());
        }
        match query.finish() {
            query if query.is_empty() => query,
            query => format!("?{query}"),
        }
    }
}

/// A page of entries.
pub(in crate::page) struct Listed {
    pub(in crate::page) page: Page,
    pub(in crate::page) now: SystemTime,
}

pub(in crate::page) fn list(shared: &Shared, query: &Query, seen: Seen, listed: &Listed) -> Markup {
    let content = html! {
        (panel(shared))
        div.tools {
            h1 { "Entries" }
            (search(shared, query))
        }
        (states(shared, query, seen))
        div.live #list data-live="list" {
            @if listed.page.entries.is_empty() {
                (empty(shared, query))
            } @else {
                (table(shared, listed))
            }
        }
        (pager(shared, query, listed))
    };
    layout::page(shared, Place::Entries, "Entries", &content)
}

fn search(shared: &Shared, query: &Query) -> Markup {
    html! {
        form.search method="get" action=(shared.access.path("/")) role="search" {
            @if let Some(state) = query.state { input type="hidden" name="state" value=(state.as_str()); }
            label.hidden for="job" { "Job id" }
            input #job type="search" name="job" value=(query.job) placeholder="Job id" autocomplete="off" spellcheck="false";
            label.hidden for="event" { "Event" }
            input #event type="search" name="event" value=(query.event) placeholder="Event" autocomplete="off" spellcheck="false";
            button type="submit" { "Find" }
        }
    }
}

fn states(shared: &Shared, query: &Query, seen: Seen) -> Markup {
    let tab = |name: &str, state: Option<State>| {
        let path = Query { state, after: 0, ..query.clone() }.path(shared);
        let count =
            seen.counts.map(|counts| state.map_or(counts.total(), |state| counts.of(state)));
        html! {
            a href=(path) data-state=[state.map(State::as_str)] data-some=[(count.unwrap_or_default() > 0).then_some("")] aria-current=[(query.state == state).then_some("true")] {
                span.name { (name) }
                span.count { @match count { Some(count) => (number(count)), None => "–" } }
            }
        }
    };
    html! {
        nav.states #states data-live="states" aria-label="Entries by state" {
            (tab("all", None))
            @for state in State::ALL { (tab(state.as_str(), Some(state))) }
        }
    }
}

fn table(shared: &Shared, listed: &Listed) -> Markup {
    html! {
        table.entries {
            caption.hidden { "Entries, the newest first" }
            thead {
                tr {
                    th.state scope="col" { "State" }
                    th.what scope="col" { "Article" }
                    th.event scope="col" { "Event" }
                    th.source scope="col" { "Came by" }
                    th.size scope="col" { "Size" }
                    th.attempts scope="col" { "Attempts" }
                    th.age scope="col" { "Received" }
                }
            }
            tbody {
                @for entry in &listed.page.entries { (row(shared, entry, listed.now)) }
            }
        }
    }
}

fn row(shared: &Shared, entry: &Entry, now: SystemTime) -> Markup {
    html! {
        tr id={"entry-" (entry.id)} {
            td.state { (badge(entry.state)) }
            td.what {
                a href=(entry_path(shared, &entry.key)) {
                    @match &entry.title {
                        Some(title) => span.title { (text(&cut(title))) },
                        None => span.title.none { "No title" },
                    }
                    span.more {
                        span.job { (text(entry.key.job_id.as_str())) }
                        @if let Some(cause) = &entry.cause { span.cause { (text(&cut(cause))) } }
                    }
                }
            }
            td.event { (text(entry.key.event.as_str())) }
            td.source { (entry.source.as_str()) }
            td.size { @if let Some(length) = entry.length { (size(length)) } }
            td.attempts { (entry.attempts) span.hidden { " attempts" } }
            td.age { (age(entry.received_at, now)) }
        }
    }
}

fn empty(shared: &Shared, query: &Query) -> Markup {
    let send = shown_command::send(&shared.receiver);
    html! {
        div.empty {
            @if query.is_narrowed() || query.after != 0 {
                h2 { "No entry matches" }
                p { "A job id and an event are compared as a whole. " a href=(shared.access.path("/")) { "See all entries" } }
            } @else if shared.panel.is_some() {
                h2 { "Nothing has arrived yet" }
                p { "Press a button above. What arrives appears here by itself." }
            } @else if shared.has_receiver {
                h2 { "Nothing has arrived yet" }
                p { "What is delivered to " (shared.receiver) " appears here by itself. To see one article now:" }
                (command(&send))
                p.quiet { "It needs the token in ARTICLE_WEBHOOK_TOKEN. If a delivery does not appear, the terminal says why it was refused." }
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

fn pager(shared: &Shared, query: &Query, listed: &Listed) -> Markup {
    html! {
        nav.pager #pager data-live="pager" aria-label="Pages of the list" {
            @if query.after != 0 {
                a href=(Query { after: 0, ..query.clone() }.path(shared)) rel="first" { "← Newest" }
            }
            span.spacer {}
            @if let Some(next) = listed.page.next {
                a href=(Query { after: next, ..query.clone() }.path(shared)) rel="next" { "Older →" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_means_the_same_when_it_is_written_again() {
        for query in ["", "state=dead", "state=done&job=a%26b&event=x+y&after=7"] {
            let read = Query::parse(query);
            assert_eq!(read.text().trim_start_matches('?'), query);
        }
        let read = Query::parse("state=nothing&after=x&job=%20%20&more=1");
        assert_eq!(read, Query::default());
        assert!(read.filter().is_some() && !read.is_narrowed());
    }

    #[test]
    fn what_is_no_job_id_matches_nothing() {
        assert_eq!(Query::parse(&format!("job={}", "x".repeat(10_000))).filter(), None);
    }
}
