use http::StatusCode;
use maud::{Markup, html};

use super::{
    components::text,
    layout::{self, Place, bare},
};
use crate::{
    failure::Failure,
    page::{
        access::{Access, Refusal},
        shared::Shared,
    },
};

/// Why a request is refused, and what helps.
pub(in crate::page) fn refused(access: &Access, refusal: Refusal) -> Markup {
    let (title, text, help) = match refusal {
        Refusal::Host => (
            "This is not the address of the page",
            "The page answers under an address or under localhost alone, so that no website can read it under a name of its own.",
            "Open the URL that the terminal shows.",
        ),
        Refusal::ForeignPage => (
            "Another page asked for this",
            "Requests that other pages make are refused, so that none can read the inbox or press a button here.",
            "Open the URL that the terminal shows, and press the button there.",
        ),
        Refusal::NoKey => (
            "The key is missing",
            "The page shows what the inbox contains to those alone who have its key.",
            "Open the whole URL that the terminal shows, with ?key= and what follows. It has a new key after each start without --page-key-file.",
        ),
        Refusal::ReadOnly => (
            "The page is read-only",
            "It was started so that it changes nothing.",
            "Start it without --read-only.",
        ),
        Refusal::Token => (
            "The form is out of date",
            "Its token is not that of this page: the program was probably started again since the form was shown.",
            "Go back, reload, and press the button again.",
        ),
    };
    bare(access, title, &html! { h1 { (title) } p { (text) } p { strong { (help) } } })
}

/// A request that no link and no button of the page makes.
pub(in crate::page) fn not_taken(access: &Access, status: StatusCode) -> Markup {
    const TITLE: &str = "The page has no such request";
    let content = html! {
        h1 { (TITLE) }
        p { "It is refused: " (status.canonical_reason().unwrap_or_default()) "." }
        p { a href=(access.path("/")) { "See all entries" } }
    };
    bare(access, TITLE, &content)
}

/// As many pages are told of changes as can be.
pub(in crate::page) fn too_many(access: &Access) -> Markup {
    const TITLE: &str = "Too many pages are open";
    let content = html! { h1 { (TITLE) } p { "Close some of them, and reload this one." } };
    bare(access, TITLE, &content)
}

/// Shown for the moment between the URL with the key and the page. The browser then asks as the page itself, also if the
/// URL was a link in another page.
pub(in crate::page) fn opening(access: &Access) -> Markup {
    let page = access.path("/");
    bare(
        access,
        "Opening",
        &html! {
            meta http-equiv="refresh" content={ "0;url=" (page) };
            h1 { "Opening the page" }
            p { a href=(page) { "Go on" } }
        },
    )
}

pub(in crate::page) fn found_nothing(shared: &Shared) -> Markup {
    let content = html! {
        div.empty { h1 { "There is no such page" } p { a href=(shared.access.path("/")) { "See all entries" } } }
    };
    layout::page(shared, Place::Elsewhere, "Not found", &content)
}

/// A panel's action could not be done.
pub(in crate::page) fn not_done(shared: &Shared, why: &str) -> Markup {
    let content = html! {
        div.empty role="alert" {
            h1 { "This could not be done" }
            p { (text(why)) }
            p { a href=(shared.access.path("/")) { "Back to the entries" } }
        }
    };
    layout::page(shared, Place::Elsewhere, "Not done", &content)
}

/// The inbox cannot be read.
pub(in crate::page) fn store_failed(
    shared: &Shared,
    error: article_webhook_inbox::Error,
) -> Markup {
    let failure = Failure::from(error);
    let content = html! {
        div.empty role="alert" {
            h1 { "The inbox cannot be read" }
            p { (failure) }
            p { "Reload the page to try again." }
        }
    };
    layout::page(shared, Place::Elsewhere, "The inbox cannot be read", &content)
}
