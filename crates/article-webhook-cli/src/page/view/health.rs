use std::{sync::Arc, time::Duration};

use article_webhook_inbox::{Error, UNCLAIMED_AFTER, store::StoreHealth};
use axum::extract::State;
use maud::{Markup, html};

use super::{
    components::{command, size, text},
    layout::{self, Place},
};
use crate::{
    page::shared::Shared,
    text::{command as shown_command, moment::span},
};

/// What was seen of the inbox. `None` of `writable`: not tried, because the page is read-only.
struct Health {
    writable: Option<Result<(), Error>>,
    overdue: Result<Option<Duration>, Error>,
    store: Result<StoreHealth, Error>,
}

pub(in crate::page) async fn health(State(shared): State<Arc<Shared>>) -> Markup {
    let health = &look(&shared).await;
    let content = html! {
        div.tools { h1 { "Health" } }
        div #health data-live="health" {
            ul.checks {
                (writable(health))
                (worker(health))
                (store(health))
            }
            section.card {
                h2 { "When something did not arrive" }
                p { "Look for damage in everything that is stored, and look at the receiver, with a delivery that it must refuse:" }
                (command(&shown_command::full_status(&shared.name)))
                (command(&shown_command::doctor(&shared.receiver)))
            }
        }
    };
    layout::page(&shared, Place::Health, "Health", &content)
}

async fn look(shared: &Shared) -> Health {
    if !shared.is_read_only {
        let health = shared.inbox.health().await;
        let writable = Some(health.writable);
        return Health { writable, overdue: health.overdue, store: health.store };
    }
    Health {
        writable: None,
        overdue: shared.inbox.due_for().await,
        store: shared.inbox.ledger().health().await,
    }
}

fn check(tone: &str, title: &str, content: &Markup) -> Markup {
    html! {
        li.card data-tone=(tone) {
            span.sign role="img" aria-label=(match tone { "good" => "well", "bad" => "wrong", _ => "look" }) {}
            div { h2 { (title) } p { (content) } }
        }
    }
}

fn writable(health: &Health) -> Markup {
    match &health.writable {
        Some(Ok(())) => check(
            "good",
            "Deliveries can be stored",
            &html! { "A small change was committed just now." },
        ),
        Some(Err(why)) => check("bad", "Deliveries cannot be stored", &text(&why.to_string())),
        None => check(
            "busy",
            "Storing was not tried",
            &html! { "The page is read-only, so it commits nothing." },
        ),
    }
}

fn worker(health: &Health) -> Markup {
    match &health.overdue {
        Ok(None) => check("good", "Nothing waits for a worker", &html! { "No entry is due." }),
        Ok(Some(age)) if *age < UNCLAIMED_AFTER => check(
            "good",
            "No entry waits for long",
            &html! { "The oldest that is due waits for less than a minute." },
        ),
        Ok(Some(age)) => check(
            "busy",
            "Entries wait for a worker",
            &html! { "The oldest that is due waits for " (span(*age)) ". Does the application run its worker? Until it does, nothing is lost." },
        ),
        Err(why) => check("bad", "Unknown whether a worker keeps up", &text(&why.to_string())),
    }
}

fn store(health: &Health) -> Markup {
    match &health.store {
        Err(why) => check("bad", "The store does not answer", &text(&why.to_string())),
        Ok(store) => {
            let log = html! {
                @if store.wal_bytes > 0 { "The log beside the database has " (size(store.wal_bytes)) "." }
                @else { "The command below reads everything that is stored." }
            };
            html! {
                @if let Some(blocked) = &store.blocked { (check("bad", "The store is blocked", &text(&blocked.to_string()))) }
                @for finding in &store.findings { (check("bad", "Damage was found", &text(finding))) }
                @for warning in &store.warnings { (check("busy", "A warning of the store", &text(warning))) }
                @if store.blocked.is_none() && store.findings.is_empty() {
                    (check("good", "No damage was found", &log))
                }
            }
        }
    }
}
