use std::{sync::Arc, time::SystemTime};

use article_webhook::ArticleResult;
use article_webhook_inbox::{
    Body, Entry, EntryKey, Error, ExpectedJob, Failure, Filter, ListOrder, Source,
    State as EntryState, cause_group,
};
use axum::extract::{Path, RawQuery, State};
use maud::{Markup, html};
use url::form_urlencoded;

use super::{
    components::{
        age, badge, body_path, button, command, entry_path, list_path, moment, size, text,
    },
    difference::difference,
    json::json,
    layout::{self, Place},
    missed::Missed,
    time_line::{Delivered, time_line},
};
use crate::{
    page::{entry_path::key_of, query::Query, shared::Shared},
    text::{command as shown_command, counted, escape::cut},
};

/// What a change says on the page of its entry. The URL has the name, so that it can say nothing else.
const NOTICES: [(&str, &str); 4] = [
    ("requeued", "Requeued: the entry is due now, with all its attempts."),
    ("replayed", "Handed out again: the entry is due now, with all its attempts."),
    ("leased", "Nothing was changed: a worker has the entry now."),
    ("changed", "Nothing was changed: the entry has changed since it was shown."),
];

/// What is shown of one entry.
struct Shown {
    entry: Entry,
    bodies: Vec<Body>,
    /// What the ledger knows about the job.
    job: Option<ExpectedJob>,
    /// The body that the reader chose, counted from 1.
    chosen: Option<usize>,
    /// What the reader has just done.
    notice: Option<&'static str>,
    /// The list that it was opened from, and the entries before and after it there.
    list: Query,
    newer: Option<EntryKey>,
    older: Option<EntryKey>,
    now: SystemTime,
}

pub(in crate::page) async fn entry(
    State(shared): State<Arc<Shared>>,
    Path((job, event)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Markup, Missed> {
    let key = key_of(&job, &event).ok_or(Missed::Gone)?;
    let query = query.as_deref().unwrap_or_default();
    let job = shared.inbox.ledger().job(key.job_id.clone()).await?;
    let (entry, bodies) = shared.inbox.show(key).await?.ok_or(Missed::Gone)?;
    let value = |wanted: &str| {
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == wanted).map(|it| it.1)
    };
    let chosen = value("body").and_then(|number| number.parse().ok());
    let chosen = chosen.filter(|number| (1..=bodies.len()).contains(number));
    let notice = value("done").and_then(|done| NOTICES.iter().find(|(name, _)| *name == done));
    let notice = notice.map(|(_, text)| *text);
    let list = Query::of_entry(query);
    // A list that takes long to search costs its entry no more than these links.
    let newer = beside(&shared, &entry, &list, ListOrder::OldestFirst).await.unwrap_or_default();
    let older = beside(&shared, &entry, &list, ListOrder::NewestFirst).await.unwrap_or_default();
    let now = SystemTime::now();
    let shown = Shown { entry, bodies, job, chosen, notice, list, newer, older, now };
    Ok(page(&shared, &shown))
}

/// The entry after this one in an order of its list. It may itself have left the list.
async fn beside(
    shared: &Shared,
    entry: &Entry,
    list: &Query,
    order: ListOrder,
) -> Result<Option<EntryKey>, Error> {
    let filter = Filter { after: entry.id, order, limit: 1, ..list.filter() };
    Ok(shared.inbox.list(filter).await?.items.pop().map(|entry| entry.key))
}

fn page(shared: &Shared, shown: &Shown) -> Markup {
    let Shown { entry, bodies, job, chosen, now, notice, list, .. } = shown;
    let handed = entry.key.handed(bodies);
    let chosen = chosen.map(|number| number.saturating_sub(1));
    let chosen = chosen.or(handed).unwrap_or(bodies.len().saturating_sub(1));
    let body = bodies.get(chosen);
    let result = body.and_then(article);
    let of_handler = handed.and_then(|handed| article(&bodies[handed]));
    let title = of_handler.as_ref().map(|result| cut(&result.article.title));
    let heading = title.unwrap_or_else(|| cut(entry.key.job_id.as_str()));
    let content = html! {
        nav.crumbs aria-label="Where you are" {
            a href=(list_path(shared, list)) { @if *list == Query::default() { "Entries" } @else { "Back to the list" } }
            span aria-hidden="true" { " / " }
            span { (text(entry.key.job_id.as_str())) }
            (neighbours(shared, shown))
        }
        @if let Some(notice) = notice { p.notice role="status" { (notice) } }
        div.heading {
            h1 { (text(&heading)) }
            div.now #state data-live="state" { (badge(entry.state)) (actions(shared, shown)) }
        }
        div #why data-live="why" { (why(entry, *now)) }
        div.columns {
            div.main {
                @if bodies.len() > 1 { (which(shared, shown, handed, chosen)) }
                @if let (Some(of_handler), Some(result)) = (&of_handler, &result) && handed != Some(chosen) {
                    section.card #difference { (difference(of_handler, result)) }
                }
                (look(shared, shown, result.as_ref(), chosen))
                (body_and_json(shared, shown, chosen, body))
            }
            div.side {
                section.card #facts data-live="facts" aria-label="Facts" { (facts(entry, *now)) }
                section.card #attempts data-live="attempts" { (attempts(entry, *now)) }
                section.card { h2 { "The service's timetable" } (time_line(&Delivered::Bodies(bodies), *now)) }
                section.card { h2 { "The request" } (request(entry, body, *now)) }
                @if let Some(job) = job { section.card { h2 { a href=(shared.access.path("/ledger")) { "In the ledger" } } (in_ledger(job, body, *now)) } }
                section.card { h2 { "On the command line" } (commands(shared, entry, chosen)) }
            }
        }
    };
    layout::page(shared, Place::Entries, &heading, &content)
}

fn article(body: &Body) -> Option<ArticleResult> {
    ArticleResult::from_json(body.bytes.as_ref()?).ok()
}

fn actions(shared: &Shared, shown: &Shown) -> Markup {
    let entry = &shown.entry;
    let query = shown.list.for_entry(None);
    let path = |what| format!("{}/{what}{query}", entry_path(shared, &entry.key));
    let has_bytes = shown.bodies.iter().any(|body| body.bytes.is_some());
    html! {
        @if !shared.is_read_only {
            @match entry.state {
                EntryState::Done if has_bytes => (button(shared, &path("replay"), "Replay", "primary")),
                EntryState::Done => span.quiet { "retention has removed its bodies" },
                EntryState::Leased => span.quiet { "a worker has it now" },
                EntryState::Waiting => (button(shared, &path("requeue"), "Try now", "primary")),
                EntryState::Quarantined => {
                    (button(shared, &path("requeue"), "Read again", "primary"))
                }
                _ => (button(shared, &path("requeue"), "Requeue", "primary")),
            }
        }
    }
}

/// The entries before and after this one in its list.
fn neighbours(shared: &Shared, shown: &Shown) -> Markup {
    let link =
        |key: &EntryKey| format!("{}{}", entry_path(shared, key), shown.list.for_entry(None));
    html! {
        span.neighbours {
            @if let Some(newer) = &shown.newer { a href=(link(newer)) rel="prev" { "← Newer" } }
            @if let Some(older) = &shown.older { a href=(link(older)) rel="next" { "Older →" } }
        }
    }
}

/// What a person looks for first.
fn why(entry: &Entry, now: SystemTime) -> Markup {
    let Some(cause) = &entry.cause else { return html! {} };
    html! {
        section.alarm.cause aria-label="Why" {
            strong { @if entry.state == EntryState::Waiting { "The last attempt failed" } @else { "The entry is " (entry.state.as_str()) } ": " }
            span { (text(cause)) }
            span.quiet {
                @if entry.attempts > 0 { (counted(entry.attempts.into(), "attempt", "attempts")) ", " }
                @if entry.state == EntryState::Waiting { "the next " }
                (age(entry.at, now))
            }
        }
    }
}

fn facts(entry: &Entry, now: SystemTime) -> Markup {
    let what = match entry.state {
        EntryState::Waiting => "due ",
        EntryState::Leased if entry.at > now => "its lease ends ",
        EntryState::Leased => "its lease ended ",
        _ => "",
    };
    html! {
        dl {
            dt { "state" } dd { (entry.state.as_str()) ", " (what) (age(entry.at, now)) }
            @if let Some(node) = &entry.node { dt { "node" } dd { (text(node)) } }
            dt { "received" } dd { (moment(entry.received_at, now)) }
            dt { "event" } dd { (text(entry.key.event.as_str())) }
            dt { "target" } dd { (text(&entry.target)) }
            @if entry.conflicts > 0 {
                dt { "conflicts" } dd { (counted(entry.conflicts.into(), "other body of the job", "other bodies of the job")) }
            }
        }
    }
}

fn attempts(entry: &Entry, now: SystemTime) -> Markup {
    html! {
        h2 { "Attempts" }
        @if entry.failures.is_empty() {
            p.quiet { @match (entry.state, entry.attempts) {
                (EntryState::Done, _) => "Its handler returned without an error.",
                (EntryState::Waiting, 0) => "None yet. A worker of the application handles it when it is due.",
                (EntryState::Leased, _) => "The first goes on.",
                _ => "No failure is kept.",
            } }
        } @else {
            ol.attempts {
                @for equal in entry.failures.chunk_by(|one, next| cause_group(&one.cause) == cause_group(&next.cause)) {
                    li { (failures(equal, now)) }
                }
                @if entry.state == EntryState::Waiting {
                    li.next { span.nth { "next" } (age(entry.at, now)) }
                }
            }
        }
    }
}

/// Failures in a row for one reason. Several are folded.
fn failures(equal: &[Failure], now: SystemTime) -> Markup {
    let one = |failure: &Failure| {
        html! { span.nth { "attempt " (failure.attempt) } (age(failure.at, now)) span.cause { (text(&failure.cause)) } }
    };
    match equal {
        [failure] => one(failure),
        [first, .., last] => html! {
            details {
                summary {
                    span.nth { (equal.len()) " ×" } " "
                    span.quiet { "first " (age(first.at, now)) ", last " (age(last.at, now)) }
                    span.cause { (text(&last.cause)) }
                }
                ul.plain { @for failure in equal { li { (one(failure)) } } }
            }
        },
        [] => html! {},
    }
}

fn request(entry: &Entry, body: Option<&Body>, now: SystemTime) -> Markup {
    let Some(body) = body else { return html! { p.quiet { "No body is kept." } } };
    let length = body.bytes.as_ref().map(|bytes| bytes.len() as u64);
    html! {
        dl {
            @if body.source == Source::Api {
                dt { "came by" } dd { "the API: the job was polled" }
            } @else {
                dt { "X-Service-Event" } dd { (text(entry.key.event.as_str())) }
                dt { "X-Service-Job-Id" } dd { (text(entry.key.job_id.as_str())) }
                dt { "Authorization" } dd { "the token of " (text(&body.target)) span.quiet { " (not kept)" } }
            }
            @if let Some(intent) = &body.intent { dt { "intent" } dd { (text(intent)) } }
            dt { "stored" } dd { (moment(body.received_at, now)) }
            dt { "length" } dd { @match length { Some(length) => (size(length)), None => "removed by retention" } }
            dt { "SHA-256" } dd.digest { (body.digest) }
        }
    }
}

/// The bodies of the entry. All but one are not handed out.
fn which(shared: &Shared, shown: &Shown, handed: Option<usize>, chosen: usize) -> Markup {
    html! {
        nav.bodies aria-label="Bodies" {
            @for index in 0..shown.bodies.len() {
                a href={ (entry_path(shared, &shown.entry.key)) (shown.list.for_entry(Some(("body", &(index + 1).to_string())))) } aria-current=[(index == chosen).then_some("true")] {
                    "body " (index + 1) ": "
                    @if handed == Some(index) { "what the handler gets" } @else { "another body, not handed out" }
                }
            }
        }
        @if handed.is_none() {
            p.notice.bad { "None of its bodies can be handed out: they are damaged, or retention has removed them." }
        }
    }
}

fn look(shared: &Shared, shown: &Shown, result: Option<&ArticleResult>, chosen: usize) -> Markup {
    html! {
        section.card.look aria-labelledby="look" {
            h2 #look { "The article" }
            @match result {
                Some(result) => {
                    dl.meta {
                        @if let Some(title) = &result.article.meta_title { dt { "meta title" } dd { (text(&cut(title))) } }
                        @if let Some(description) = &result.article.meta_description { dt { "description" } dd { (text(&cut(description))) } }
                        @if let Some(words) = &result.article.word_count { dt { "words" } dd { (words) } }
                        @if let Some(url) = result.featured_image.as_ref().and_then(|image| image.url.as_deref()) { dt { "image" } dd { (text(&cut(url))) span.quiet { " (not loaded)" } } }
                    }
                    iframe sandbox="" referrerpolicy="no-referrer" loading="lazy"
                        src=(body_path(shared, &shown.entry.key, "article", chosen + 1))
                        title="The article as it looks. Its scripts, links and images are off." {}
                    p.quiet { "Shown without scripts, links, images and styles of its own. Nothing is loaded." }
                }
                None => p.quiet { (why_no_article(shown, chosen)) },
            }
        }
    }
}

fn why_no_article(shown: &Shown, chosen: usize) -> String {
    let Some(body) = shown.bodies.get(chosen) else { return "No body is kept.".to_owned() };
    let Some(bytes) = &body.bytes else {
        return "Retention has removed the body. Its digest is kept.".to_owned();
    };
    match ArticleResult::from_json(bytes) {
        Ok(_) => String::new(),
        Err(error) => format!("The body is not an article: {error}"),
    }
}

fn body_and_json(shared: &Shared, shown: &Shown, chosen: usize, body: Option<&Body>) -> Markup {
    let Shown { entry, bodies, .. } = shown;
    html! {
        section.card aria-labelledby="body" {
            div.heading {
                h2 #body { @if bodies.len() > 1 { "Body " (chosen + 1) } @else { "The body" } }
                @if body.is_some_and(|body| body.bytes.is_some()) {
                    a.button href=(body_path(shared, &entry.key, "body", chosen + 1)) download { "Download" }
                }
            }
            @if body.is_some_and(|body| !body.is_intact()) {
                p.notice.bad { "It differs from what was received: its digest is another." }
            }
            @match body.and_then(|body| body.bytes.as_ref()) {
                Some(bytes) => (json(bytes)),
                None => p.quiet { "No bytes are kept." },
            }
        }
    }
}

fn in_ledger(job: &ExpectedJob, body: Option<&Body>, now: SystemTime) -> Markup {
    let intent = body.and_then(|body| body.intent.as_ref()).or(job.intent.as_ref());
    html! {
        dl {
            dt { "state" } dd { (job.state.as_str().replace('_', " ")) }
            dt { "because" } dd { (text(&job.reason.to_string())) }
            dt { "expected" } dd { (moment(job.expected_at, now)) }
            @if let Some(intent) = intent { dt { "intent" } dd { (text(intent)) } }
            @if job.polls > 0 { dt { "polled" } dd { (counted(job.polls.into(), "time", "times")) } }
        }
    }
}

fn commands(shared: &Shared, entry: &Entry, chosen: usize) -> Markup {
    let (file, job) = (&shared.name, entry.key.job_id.as_str());
    let header = |name: &str, value: &str| shown_command::quoted(&format!("{name}: {value}"));
    let curl = format!(
        "curl -H \"Authorization: $ARTICLE_WEBHOOK_TOKEN\" -H 'Content-Type: application/json' -H {} -H {} \
         --data-binary @body-{}.json {}",
        header("X-Service-Event", entry.key.event.as_str()),
        header("X-Service-Job-Id", job),
        chosen + 1,
        shown_command::quoted(&shared.receiver),
    );
    html! {
        p.quiet { "The body as it came; giving up; erasing all of the job:" }
        (command(&shown_command::show_body(file, job)))
        (command(&shown_command::discard(file, job)))
        (command(&shown_command::erase(file, job)))
        p.quiet { "To deliver the downloaded body to a receiver as the service does:" }
        (command(&curl))
    }
}
