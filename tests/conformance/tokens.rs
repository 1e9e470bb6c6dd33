//! Tokens as they may be configured.

use article_webhook::TokenError;
use article_webhook::TokenError::{
    Empty, ForbiddenCharacter, HeaderName, OnlyWhiteSpace, Quoted, SurroundingWhiteSpace, TooLong,
};

/// No part of it is in any message.
pub(crate) const SECRET: &str = "5f2b9c0e7a1d4e38";

pub(crate) struct Refused {
    pub(crate) situation: &'static str,
    pub(crate) token: String,
    pub(crate) error: TokenError,
}

/// `{}` stands for the secret.
fn row(situation: &'static str, token: &str, error: TokenError) -> Refused {
    let token = token.replace("{}", SECRET);
    Refused { situation, token, error }
}

pub(crate) fn refused() -> Vec<Refused> {
    let mut rows = white_space();
    rows.extend(schemes());
    rows.extend(copied_with_more());
    rows.extend(placeholders());
    rows.extend(controls());
    rows.extend(beyond_ascii());
    rows.extend(too_long());
    rows
}

fn white_space() -> Vec<Refused> {
    let around = |situation, token| row(situation, token, SurroundingWhiteSpace);
    vec![
        row("nothing", "", Empty),
        row("a space", " ", OnlyWhiteSpace),
        row("a tab and a line end", "\t\r\n", OnlyWhiteSpace),
        row("a form feed", "\x0c", OnlyWhiteSpace),
        row("a vertical tab", "\x0b", OnlyWhiteSpace),
        row("a no-break space", "\u{a0}", OnlyWhiteSpace),
        around("a space before the token", " Bearer {}"),
        around("a space behind the token", "Bearer {} "),
        around("a tab behind the token", "Bearer {}\t"),
        around("the line end of a file", "Bearer {}\n"),
        around("the line end of a file from Windows", "Bearer {}\r\n"),
        around("a carriage return behind the token", "Bearer {}\r"),
        around("a line break before the token", "\nBearer {}"),
        around("a vertical tab behind the token", "Bearer {}\x0b"),
        around("a form feed behind the token", "Bearer {}\x0c"),
        around("a no-break space before the token", "\u{a0}Bearer {}"),
        around("a no-break space behind the token", "Bearer {}\u{a0}"),
        around("an em space behind the token", "Bearer {}\u{2003}"),
        around("an ideographic space behind the token", "Bearer {}\u{3000}"),
        around("a next-line character behind the token", "Bearer {}\u{85}"),
        around("a line separator behind the token", "Bearer {}\u{2028}"),
        around("a placeholder with a line end", "changeme\n"),
    ]
}

fn schemes() -> Vec<Refused> {
    let alone = |situation, token, scheme| row(situation, token, TokenError::SchemeOnly { scheme });
    let twice =
        |situation, token, scheme| row(situation, token, TokenError::DoubledScheme { scheme });
    let colon =
        |situation, token, scheme| row(situation, token, TokenError::SchemeWithColon { scheme });
    vec![
        alone("Bearer alone", "Bearer", "Bearer"),
        alone("Bearer and a space", "Bearer ", "Bearer"),
        alone("Bearer and a line end", "Bearer\n", "Bearer"),
        alone("Bearer in lower case alone", "bearer", "Bearer"),
        alone("Bearer in upper case alone, with white space around", "\tBEARER ", "Bearer"),
        alone("Basic alone", "Basic", "Basic"),
        alone("Token alone", "token", "Token"),
        alone("ApiKey alone", "apikey", "ApiKey"),
        alone("Digest alone", "Digest ", "Digest"),
        alone("OAuth alone", "OAuth", "OAuth"),
        twice("Bearer twice", "Bearer Bearer {}", "Bearer"),
        twice("Bearer twice in two letter cases", "bearer BEARER {}", "Bearer"),
        twice("Bearer twice with more space", "Bearer   Bearer {}", "Bearer"),
        twice("Bearer twice with a tab", "Bearer\tBearer {}", "Bearer"),
        twice("Bearer three times", "Bearer Bearer Bearer {}", "Bearer"),
        twice("Bearer twice and nothing more", "Bearer Bearer", "Bearer"),
        twice("Bearer twice and a line end", "Bearer Bearer {}\n", "Bearer"),
        twice("Basic twice", "Basic Basic {}", "Basic"),
        twice("Token twice", "Token token {}", "Token"),
        twice("ApiKey twice", "ApiKey APIKEY {}", "ApiKey"),
        twice("OAuth twice", "OAuth OAuth {}", "OAuth"),
        colon("Bearer with a colon", "Bearer: {}", "Bearer"),
        colon("Bearer with a colon and without a space", "Bearer:{}", "Bearer"),
        colon("Bearer with a colon alone", "Bearer:", "Bearer"),
        colon("Token in lower case with a colon", "token: {}", "Token"),
    ]
}

/// What is copied together with the token.
fn copied_with_more() -> Vec<Refused> {
    let quoted = |situation, token| row(situation, token, Quoted);
    let named = |situation, token| row(situation, token, HeaderName);
    vec![
        quoted("quotation marks", "\"Bearer {}\""),
        quoted("single quotation marks", "'Bearer {}'"),
        quoted("backticks", "`Bearer {}`"),
        quoted("quotation marks and nothing else", "\"\""),
        quoted("quotation marks around a token without a scheme word", "'{}'"),
        named("the header's name", "Authorization: Bearer {}"),
        named("the header's name in lower case without a space", "authorization:Bearer {}"),
        named("the header's name alone", "Authorization:"),
    ]
}

/// What template engines, forms and scripts leave behind.
fn placeholders() -> Vec<Refused> {
    let left = |situation, token, placeholder| {
        row(situation, token, TokenError::Placeholder { placeholder })
    };
    vec![
        left("the document's placeholder", "<AUTH_TOKEN>", "<AUTH_TOKEN>"),
        left("the document's placeholder behind Bearer", "Bearer <AUTH_TOKEN>", "<AUTH_TOKEN>"),
        left("the document's placeholder in lower case", "Bearer <auth_token>", "<AUTH_TOKEN>"),
        left("undefined", "undefined", "undefined"),
        left("undefined behind Bearer", "Bearer undefined", "undefined"),
        left("undefined behind a scheme of no standard", "Service undefined", "undefined"),
        left("null", "null", "null"),
        left("NULL in upper case", "NULL", "null"),
        left("null behind two spaces", "Bearer  null", "null"),
        left("null behind Basic", "Basic null", "null"),
        left("changeme", "changeme", "changeme"),
        left("ChangeMe behind Token", "Token ChangeMe", "changeme"),
        left("a command that no shell ran", "Bearer $(openssl rand -hex 24)", "$(…)"),
    ]
}

/// What no header can carry, or what would begin another one.
fn controls() -> Vec<Refused> {
    let control = |situation, token| row(situation, token, ForbiddenCharacter);
    vec![
        control("a tab for the space", "Bearer\t{}"),
        control("a zero byte in the token", "Bearer \0{}"),
        control("a zero byte before the token", "\0Bearer {}"),
        control("a zero byte behind the token", "Bearer {}\0"),
        control("another header behind a line end", "Bearer {}\r\nX-Other: a"),
        control("a line feed in the token", "Bearer\n{}"),
        control("a carriage return in the token", "Bearer\r{}"),
        control("two lines of a file", "Bearer {}\nBearer {}"),
        control("a bell in the token", "Bearer \x07{}"),
        control("a backspace in the token", "Bearer x\x08{}"),
        control("a colour of a terminal", "Bearer \x1b[1m{}"),
        control("a delete character behind the token", "Bearer {}\x7f"),
        control("a unit separator in the token", "Bearer\x1f{}"),
    ]
}

/// What word processors, chats and web pages make of a token that is copied through them.
fn beyond_ascii() -> Vec<Refused> {
    let other = |situation, token| row(situation, token, ForbiddenCharacter);
    vec![
        other("a byte order mark before the token", "\u{feff}Bearer {}"),
        other("a no-break space for the space", "Bearer\u{a0}{}"),
        other("a space of no width in the token", "Bearer \u{200b}{}"),
        other("a space of no width behind the token", "Bearer {}\u{200b}"),
        other("a joiner of no width in the token", "Bearer {}\u{200d}"),
        other("a soft hyphen in the token", "Bearer {}\u{ad}x"),
        other("a mark for the direction of writing", "\u{202e}Bearer {}"),
        other("a hyphen that does not break", "Bearer a\u{2011}{}"),
        other("a dash for two hyphens", "Bearer a\u{2013}{}"),
        other("an ellipsis", "Bearer 5f2b\u{2026}"),
        other("typographic quotes", "\u{201c}Bearer {}\u{201d}"),
        other("a Cyrillic letter in the scheme word", "B\u{435}arer {}"),
        other("full-width letters in the scheme word", "Ｂｅａｒｅｒ {}"),
        other("full-width digits", "Bearer ５{}"),
        other("a letter with an accent", "Bearer {}\u{e9}"),
        other("an accent of its own", "Bearer {}e\u{301}"),
        other("a character of four bytes", "Bearer {}🏃"),
        other("the mark of a character that was lost", "Bearer \u{fffd}{}"),
        other("dots that hide a token", "Bearer ••••••••"),
        other("a control character beyond ASCII", "Bearer \u{9b}{}"),
        other("a character that is none", "Bearer {}\u{ffff}"),
    ]
}

fn too_long() -> Vec<Refused> {
    let long = |situation, token: String| row(situation, &token, TooLong);
    vec![
        long("4097 bytes", "x".repeat(4097)),
        long("4097 bytes with Bearer", ["Bearer ", &"x".repeat(4090)].concat()),
        long("100000 bytes", "x".repeat(100_000)),
    ]
}

/// Legal, though few would choose them.
pub(crate) fn accepted() -> Vec<(&'static str, String)> {
    let printable: String = ('!'..='~').collect();
    let rows = [
        ("no scheme word", "{}"),
        ("one byte", "7"),
        ("another scheme word", "Service {}"),
        ("Basic with its padding", "Basic c2VydmljZTo1ZjJiOWMwZTdhMWQ0ZTM4Cg=="),
        ("two scheme words that differ", "Bearer Basic {}"),
        ("a secret that begins like the scheme word", "Bearer Bearer{}"),
        ("a scheme word and a hyphen", "Bearer-{}"),
        ("another word with a colon", "Key: {}"),
        ("two spaces", "Bearer  {}"),
        ("a secret of several words", "Bearer correct horse {}"),
        ("quotes", "Bearer \"{}\""),
        ("a quotation mark at one end", "Bearer {}\""),
        ("quotation marks that differ", "\"Bearer {}'"),
        ("a secret that begins like the header's name", "Bearer Authorization:{}"),
        ("a comma, a semicolon and a colon", "Bearer {},{};{}:"),
        ("percent signs and backslashes", r"Bearer %20\n{}\"),
        ("dollar signs and braces", "Bearer ${a}{}$$"),
        ("a secret that begins like a placeholder", "Bearer undefined{}"),
        ("a placeholder and more words", "Bearer null {}"),
        ("a placeholder in other brackets", "Bearer [AUTH_TOKEN]"),
        ("three parts with points", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.{}"),
    ];
    let mut rows: Vec<_> =
        rows.map(|(situation, token)| (situation, token.replace("{}", SECRET))).into();
    rows.push(("every visible character of ASCII", printable));
    rows.push(("4096 bytes", "x".repeat(4096)));
    rows.push(("4096 bytes with Bearer", ["Bearer ", &"x".repeat(4089)].concat()));
    rows
}
