//! Tokens as they may be configured.

use crate::text::{Situation, situations, text};

/// No part of it is in any message.
pub(crate) const SECRET: &str = "5f2b9c0e7a1d4e38";

pub(crate) struct Token {
    pub(crate) situation: &'static str,
    pub(crate) token: String,
    /// What the error says, or `accepted`.
    pub(crate) fate: &'static str,
}

fn tokens() -> impl Iterator<Item = Token> {
    situations(include_str!("tokens.txt")).into_iter().map(|situation| {
        let Situation { name, fate, cells } = situation;
        Token { situation: name, token: text(&cells[0]).replace("{}", SECRET), fate }
    })
}

pub(crate) fn refused() -> Vec<Token> {
    tokens().filter(|row| row.fate != "accepted").collect()
}

/// Legal, though few would choose them.
pub(crate) fn accepted() -> Vec<Token> {
    tokens().filter(|row| row.fate == "accepted").collect()
}
