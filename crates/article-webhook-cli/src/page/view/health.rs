use std::{sync::Arc, time::Duration};

use axum::extract::State;
use maud::{Markup, html};
use tokio::time::timeout;

use super::{
    components::{command, text},
    layout::{self, Place},
};
use crate::{
    output::Tone,
    page::shared::Shared,
    store::{Access, Works, of_store},
    text::command as shown_command,
};

/// How long the page waits for the store.
const TIMEOUT: Duration = Duration::from_secs(2);

pub(in crate::page) async fn health(State(shared): State<Arc<Shared>>) -> Markup {
    let access = if shared.is_read_only { Access::ReadOnly } else { Access::Full };
    let works = match timeout(TIMEOUT, Works::of(&shared.inbox, access)).await {
        Ok(works) => works.map_err(|error| error.to_string()),
        Err(_) => Err("it has not answered within two seconds".to_owned()),
    };
    let (failure, facts) = match works {
        Ok((_, facts)) => (None, facts),
        // What the store knows of itself may say why.
        Err(why) => match timeout(TIMEOUT, shared.inbox.ledger().health()).await {
            Ok(Ok(store)) => (Some(why), of_store(&store)),
            Ok(Err(_)) | Err(_) => (Some(why), Vec::new()),
        },
    };
    let content = html! {
        div.tools { h1 { "Health" } }
        div #health data-live="health" {
            ul.checks {
                @if let Some(why) = &failure { (check(Tone::Bad, "the store does not answer", why, None)) }
                @for fact in &facts { (check(fact.tone, &fact.name(), &fact.text, fact.fix)) }
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

fn check(tone: Tone, name: &str, found: &str, fix: Option<&str>) -> Markup {
    let (tone, meaning) = match tone {
        Tone::Good => ("good", "well"),
        Tone::Bad => ("bad", "wrong"),
        _ => ("busy", "look"),
    };
    html! {
        li.card data-tone=(tone) {
            span.sign role="img" aria-label=(meaning) {}
            div {
                h2 { (name) }
                p { (text(found)) }
                @if let Some(fix) = fix { p { (fix) } }
            }
        }
    }
}
