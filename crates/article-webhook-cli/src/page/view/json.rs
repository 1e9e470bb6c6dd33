//! A body of JSON as people read it: indented, coloured, in the order and with the digits in which it came.

use maud::{Markup, PreEscaped, Render, html};

use super::components::{number, size};
use crate::text::escape;

/// How much of a body is shown. The rest is in the download.
const SHOWN: usize = 256 * 1024;

/// A text that is longer is folded.
const LONG: usize = 300;

/// How much of a folded text can be seen.
const FOLDED: usize = 80;

/// A deeper body is not indented further.
const DEEPEST: usize = 32;

/// What is shown of a body, and whether that is all of it.
pub(super) fn json(body: &[u8]) -> Markup {
    let is_cut = body.len() > SHOWN;
    let body = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    let html = String::with_capacity(body.len() * 2);
    let mut printer = Printer { html, depth: 0, is_new_line: false };
    printer.print(&body);
    html! {
        pre.json tabindex="0" aria-label="Body" { (PreEscaped(printer.html)) }
        @if is_cut {
            p.quiet { "The first " (size(SHOWN as u64)) " are shown. The download has all of it." }
        }
    }
}

struct Printer {
    html: String,
    depth: usize,
    /// A folded text ends its line.
    is_new_line: bool,
}

impl Printer {
    /// It does not parse: what is not JSON is shown as it is.
    fn print(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => {
                    let length = string(rest);
                    let after = rest[length..].trim_start();
                    let kind = if after.starts_with(':') { "key" } else { "text" };
                    if length <= LONG {
                        self.span(&rest[..length], kind);
                        length
                    } else if after.starts_with(',') {
                        self.folded(&rest[..length], kind, ",");
                        self.line();
                        rest.len() - after.len() + 1
                    } else {
                        self.folded(&rest[..length], kind, "");
                        length
                    }
                }
                '{' | '[' => {
                    let close = if first == '{' { '}' } else { ']' };
                    self.html.push(first);
                    let inside = &rest[1..];
                    let blank = inside.len() - inside.trim_start().len();
                    if inside[blank..].starts_with(close) {
                        self.html.push(close);
                        1 + blank + 1
                    } else {
                        self.depth += 1;
                        self.line();
                        1
                    }
                }
                '}' | ']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line();
                    self.html.push(first);
                    1
                }
                ',' => {
                    self.html.push(first);
                    self.line();
                    1
                }
                ':' => {
                    self.html.push_str(": ");
                    1
                }
                ' ' | '\n' | '\r' | '\t' => 1,
                _ => {
                    let end = rest.find(|next: char| "{}[],:\" \n\r\t".contains(next));
                    let length = end.unwrap_or(rest.len()).max(first.len_utf8());
                    self.span(&rest[..length], "value");
                    length
                }
            };
            rest = &rest[length..];
        }
    }

    fn line(&mut self) {
        if !std::mem::take(&mut self.is_new_line) {
            self.html.push('\n');
        }
        self.html.extend(std::iter::repeat_n("  ", self.depth.min(DEEPEST)));
    }

    fn span(&mut self, text: &str, kind: &str) {
        html! { span class=(kind) { (escape::json(text)) } }.render_to(&mut self.html);
    }

    /// With the comma after it, because it ends its line.
    fn folded(&mut self, text: &str, kind: &str, comma: &str) {
        let start = text.char_indices().nth(FOLDED).map_or(text.len(), |(index, _)| index);
        let length = text.chars().count();
        html! {
            details {
                summary {
                    span class=(kind) { (escape::json(&text[..start])) "…" }
                    " " span.fold { (number(length as u64)) " characters" } (comma)
                }
                span class=(kind) { (escape::json(text)) }
            }
        }
        .render_to(&mut self.html);
        self.is_new_line = true;
    }
}

/// The length of the string that the text begins with. One that does not end goes to the end.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}
