//! The one place where text from outside becomes text for a terminal.

use std::{borrow::Cow, fmt::Write};

use crate::secrets;

/// How many characters of a text from outside stand on one line.
const SHOWN: usize = 200;

/// Whether a terminal could act on this character, or show it as nothing, or reorder the text around it.
pub(super) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Text for one line: no character in it controls a terminal.
pub(crate) fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// The beginning of a text, for one line.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    cut_to(text, SHOWN + 1)
}

/// A text of at most this many characters.
pub(crate) fn cut_to(text: &str, most: usize) -> Cow<'_, str> {
    // Before it is cut: a part of a secret is not found any more.
    let text = secrets::removed(text);
    match text.char_indices().nth(most) {
        Some(_) => Cow::Owned(text.chars().take(most - 1).chain(['…']).collect()),
        None => text,
    }
}

/// Text of several lines. Line ends and tabs stay.
pub(crate) fn lines(text: &str) -> String {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe(character) && !stays(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// JSON that means the same, on one line, with the escapes of JSON. Outside of its strings, JSON has no character that
/// needs one except line ends, which become spaces.
pub(crate) fn json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\n' | '\r' | '\t') {
            escaped.push(' ');
        } else if is_unsafe(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}
