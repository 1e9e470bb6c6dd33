//! Why a request gets no page of the inbox, and what helps.

use article_webhook_inbox::Error;
use axum::{
    Extension,
    response::{IntoResponse, Response},
};
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

/// An answer that a middleware gives its [page](Self::page), because a handler that is left by `?` does not know the layout.
#[derive(Debug, Clone)]
pub(in crate::page) enum Missed {
    Refused(Refusal),
    /// As many pages follow changes as may.
    TooMany,
    /// No page has this path.
    Nothing,
    /// The entry was erased, or never was.
    Gone,
    /// A panel's action could not be done.
    NotDone(String),
    /// The inbox cannot be read or written now.
    Failed(String),
}

impl From<Refusal> for Missed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Missed {
    fn from(error: Error) -> Self {
        Self::Failed(Failure::from(error).to_string())
    }
}

impl IntoResponse for Missed {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Refused(Refusal::Host) => StatusCode::MISDIRECTED_REQUEST,
            Self::Refused(Refusal::NoKey) => StatusCode::UNAUTHORIZED,
            Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::Nothing | Self::Gone => StatusCode::NOT_FOUND,
            Self::NotDone(_) => StatusCode::CONFLICT,
            Self::TooMany | Self::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, Extension(self)).into_response()
    }
}

impl Missed {
    pub(in crate::page) fn page(&self, shared: &Shared) -> Markup {
        let entries = |text: &str| html! { p { a href=(shared.access.path("/")) { (text) } } };
        let (place, title, content) = match self {
            Self::Refused(refusal) => return refused(&shared.access, *refusal),
            Self::TooMany => {
                const TITLE: &str = "Too many pages are open";
                let content =
                    html! { h1 { (TITLE) } p { "Close some of them, and reload this one." } };
                return bare(&shared.access, TITLE, &content);
            }
            Self::Nothing => (
                Place::Elsewhere,
                "Not found",
                html! { div.empty { h1 { "There is no such page" } (entries("See all entries")) } },
            ),
            Self::Gone => (
                Place::Entries,
                "No such entry",
                html! {
                    div.empty {
                        h1 { "There is no such entry" }
                        p { "It was erased, or retention has removed it, or it never was here." }
                        (entries("See all entries"))
                    }
                },
            ),
            Self::NotDone(why) => (
                Place::Elsewhere,
                "Not done",
                html! {
                    div.empty role="alert" {
                        h1 { "This could not be done" }
                        p { (text(why)) }
                        (entries("Back to the entries"))
                    }
                },
            ),
            Self::Failed(why) => (
                Place::Elsewhere,
                "The inbox cannot be read",
                html! {
                    div.empty role="alert" {
                        h1 { "The inbox cannot be read" }
                        p { (why) }
                        p { "Reload the page to try again." }
                    }
                },
            ),
        };
        layout::page(shared, place, title, &content)
    }
}

/// Why a request is refused, and what helps.
fn refused(access: &Access, refusal: Refusal) -> Markup {
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
        p { "The request is refused: " (status.canonical_reason().unwrap_or_default()) "." }
        p { a href=(access.path("/")) { "See all entries" } }
    };
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
