use maud::{DOCTYPE, Markup, html};

use crate::{
    page::{access::Access, shared::Shared},
    text::escape,
};

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum Place {
    Entries,
    Ledger,
    Refused,
    Health,
    Elsewhere,
}

const PLACES: [(Place, &str, &str); 4] = [
    (Place::Entries, "/", "Entries"),
    (Place::Ledger, "/ledger", "Ledger"),
    (Place::Refused, "/refused", "Refused"),
    (Place::Health, "/health", "Health"),
];

/// A whole page. The script replaces what is marked `data-live` when something changes.
pub(super) fn page(shared: &Shared, place: Place, title: &str, content: &Markup) -> Markup {
    let at = |path| shared.access.path(path);
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&shared.access, title))
            body {
                a.skip href="#content" { "Skip to the content" }
                header.top {
                    div.bar {
                        a.brand href=(at("/")) aria-label="article-webhook: all entries" {
                            img src=(at("/assets/icon.svg")) alt="" width="24" height="24";
                            span { "article-webhook" }
                        }
                        nav aria-label="Pages" {
                            @for (its, path, name) in PLACES {
                                a href=(at(path)) aria-current=[(its == place).then_some("page")] { (name) }
                            }
                        }
                        span.spacer {}
                        @if shared.is_read_only { span.chip { "read-only" } }
                        span.link #connection role="status" data-state="off" {
                            span.dot {} span.word { "not live" }
                        }
                    }
                }
                main #content tabindex="-1" { (content) }
                (keys())
                footer {
                    button #keys-open type="button" hidden { "Keys" }
                    span.file title=(escape::line(&shared.name)) { (escape::line(&shared.name)) }
                }
            }
        }
    }
}

/// What keys do. The script shows it.
fn keys() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                dt { kbd { "j" } " " kbd { "k" } } dd { "next and previous entry" }
                dt { kbd { "r" } } dd { "to the button that requeues; Enter presses it" }
                dt { kbd { "/" } } dd { "search" }
                dt { kbd { "?" } } dd { "these keys" }
            }
            form method="dialog" { button type="submit" { "Close" } }
        }
    }
}

/// A page without the inbox, for who may not see it.
pub(super) fn bare(access: &Access, title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(access, title))
            body { main.alone #content { (content) } }
        }
    }
}

fn head(access: &Access, title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (escape::line(title)) " · article-webhook" }
            link rel="icon" href=(access.path("/assets/icon.svg")) type="image/svg+xml";
            link rel="stylesheet" href=(access.path("/assets/page.css"));
            script src=(access.path("/assets/page.js")) defer {}
        }
    }
}
