//! Pieces that several pages have.

use std::time::SystemTime;

use article_webhook_inbox::{EntryKey, State};
use maud::{Markup, html};

use crate::{
    page::{entry_path::path_of, query::Query, shared::Shared},
    text::{
        escape,
        moment::{exact, relative, shown},
    },
};

/// A time, as its distance from now. The script keeps the distance up to date.
pub(super) fn age(time: SystemTime, now: SystemTime) -> Markup {
    html! {
        time datetime=(exact(time)) title=(shown(time)) { (relative(time, now)) }
    }
}

/// A time, and its distance from now.
pub(super) fn moment(time: SystemTime, now: SystemTime) -> Markup {
    html! { span.exact { (shown(time)) } " " span.quiet.whole { "(" (age(time, now)) ")" } }
}

pub(super) fn badge(state: State) -> Markup {
    html! { span.badge data-state=(state.as_str()) { (state.as_str()) } }
}

/// Text from outside on one line.
pub(super) fn text(text: &str) -> Markup {
    html! { bdi { (escape::line(text)) } }
}

/// A number with its thousands apart.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A length of bytes.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..100_000 => format!("{}.{} KB", bytes / 1000, bytes % 1000 / 100),
        100_000..1_000_000 => format!("{} KB", bytes / 1000),
        _ => format!("{}.{} MB", number(bytes / 1_000_000), bytes % 1_000_000 / 100_000),
    }
}

/// The path of a list.
pub(super) fn list_path(shared: &Shared, query: &Query) -> String {
    shared.access.path(&format!("/{}", query.text()))
}

/// The path of an entry's page.
pub(in crate::page) fn entry_path(shared: &Shared, key: &EntryKey) -> String {
    shared.access.path(&path_of(key))
}

/// The path of something about one body of an entry. Bodies are counted from 1.
pub(super) fn body_path(shared: &Shared, key: &EntryKey, what: &str, number: usize) -> String {
    format!("{}/{what}/{number}", entry_path(shared, key))
}

/// A button that changes something.
pub(super) fn button(shared: &Shared, path: &str, label: &str, kind: &str) -> Markup {
    html! {
        @if !shared.is_read_only {
            form method="post" action=(path) {
                input type="hidden" name="token" value=(shared.access.token.as_str());
                button type="submit" class=(kind) { (label) }
            }
        }
    }
}

/// A command to copy. One with characters that cannot be seen is only shown.
pub(super) fn command(command: &str) -> Markup {
    let shown = escape::line(command);
    html! {
        div.command {
            code { (shown) }
            @if shown == command {
                button.copy type="button" hidden data-copy=(command) aria-label={ "Copy: " (shown) } { "Copy" }
            }
        }
    }
}

/// A command in which the reader replaces a word in capitals.
pub(super) fn pattern(command: &str) -> Markup {
    html! { div.command { code { (escape::line(command)) } } }
}
