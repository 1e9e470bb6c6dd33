use crate::{
    request::{Request, TOKEN, delivery, with_field},
    row::{Row, let_in, stranger},
    site::{BLOG, NO_SCHEME, SHOP, Site, long_token},
};

const SECRET: &str = "conformance-5f2b9c0e7a1d";

/// What comes near the token for a reader that is lenient, normalises, splits lists or compares parts.
pub(super) fn rows() -> Vec<Row> {
    [dressed(), parts(), characters(), elsewhere(), of_targets(), honest()].concat()
}

fn presenting(token: impl AsRef<[u8]>) -> Request {
    delivery().with("Authorization", token)
}

/// The secret is there, and something else with it.
fn dressed() -> Vec<Row> {
    let forged = |situation, token: &str| stranger(situation, presenting(token));
    let around = |situation, shape: &str| forged(situation, &shape.replace("{}", SECRET));
    vec![
        around("the secret in quotes", r#"Bearer "{}""#),
        around("the secret in single quotes", "Bearer '{}'"),
        around("the secret in angle brackets", "Bearer <{}>"),
        around("a colon behind the scheme word", "Bearer: {}"),
        around("an equals sign for the space", "Bearer={}"),
        around("the secret as a parameter", "Bearer token={}"),
        around("the secret as one of two parameters", r#"Bearer realm="x", token="{}""#),
        around("the header's name in its value", "Authorization: Bearer {}"),
        around("another scheme word", "Token {}"),
        around("a scheme word that begins like the right one", "Bearers {}"),
        around("no space behind the scheme word", "Bearer{}"),
        around("a comma before the token", ",Bearer {}"),
        around("a comma behind the token", "Bearer {},"),
        around("a semicolon behind the token", "Bearer {};"),
        around("a comment behind the token", "Bearer {} (service)"),
        around("another token before the token in one header", "Bearer guess, Bearer {}"),
        around("the token twice with a space between", "Bearer {} Bearer {}"),
        around("the secret twice without a space", "Bearer {}{}"),
        around("the token as JSON", r#"{"token":"Bearer {}"}"#),
        around("the token as an encoded word", "=?UTF-8?Q?Bearer_{}?="),
        around("a percent-encoded space", "Bearer%20{}"),
        around("a percent-encoded line behind the token", "Bearer {}%0d%0aX-A: b"),
        around("a backslash before the secret", r"Bearer \{}"),
        forged("the token in Base64", "QmVhcmVyIGNvbmZvcm1hbmNlLTVmMmI5YzBlN2ExZA=="),
        forged("the token in hexadecimal digits", &hexadecimal(TOKEN)),
    ]
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// What a comparison of parts, of a length alone or of a pattern would take.
fn parts() -> Vec<Row> {
    let forged = |situation, token: &str| stranger(situation, presenting(token));
    let first = ["X", &TOKEN[1..]].concat();
    let as_long = ["Bearer ", &"x".repeat(SECRET.len())].concat();
    let swapped = TOKEN.replace("5f", "f5");
    let reversed: String = TOKEN.chars().rev().collect();
    let wrapped = [TOKEN, &"x".repeat(256)].concat();
    let far = [TOKEN, &" ".repeat(5000), "x"].concat();
    vec![
        forged("the token's first byte", &TOKEN[..1]),
        forged("the token's last byte", &TOKEN[TOKEN.len() - 1..]),
        forged("the token's second half", &TOKEN[TOKEN.len() / 2..]),
        forged("all but the first byte", &TOKEN[1..]),
        forged("another first byte", &first),
        forged("a token of the right length", &as_long),
        forged("two bytes in the other order", &swapped),
        forged("the token backwards", &reversed),
        forged("the token and 256 bytes more", &wrapped),
        forged("a byte far behind the token", &far),
        forged("an asterisk", "*"),
        forged("a pattern that matches the token", "Bearer conformance-.*"),
        forged("a condition that is always true", "' OR '1'='1"),
        forged("undefined", "undefined"),
        forged("null behind the scheme word", "Bearer null"),
        forged("the document's placeholder", "Bearer <AUTH_TOKEN>"),
    ]
}

/// What a folding of letter cases, Unicode forms or bytes would make equal.
fn characters() -> Vec<Row> {
    let forged = |situation, token: &[u8]| stranger(situation, presenting(token));
    let instead =
        |situation, from: &str, to: &str| forged(situation, TOKEN.replacen(from, to, 1).as_bytes());
    let mut high_bit = TOKEN.as_bytes().to_vec();
    high_bit[0] |= 0x80;
    vec![
        instead("the scheme word in upper case", "Bearer", "BEARER"),
        instead("one letter in upper case", "conf", "Conf"),
        instead("a full-width letter", "B", "\u{ff22}"),
        instead("a Cyrillic letter", "e", "\u{435}"),
        instead("a character whose low byte is right", "d", "\u{164}"),
        instead("a hyphen that does not break", "-", "\u{2011}"),
        instead("a no-break space for the space", " ", "\u{a0}"),
        instead("a space of no width in the secret", "-", "-\u{200b}"),
        instead("a soft hyphen in the secret", "-", "-\u{ad}"),
        instead("a byte order mark before the token", "B", "\u{feff}B"),
        forged("a no-break space behind the token", [TOKEN, "\u{a0}"].concat().as_bytes()),
        forged("a next-line byte behind the token", &[TOKEN.as_bytes(), b"\x85"].concat()),
        forged("a byte whose highest bit is set", &high_bit),
    ]
}

/// The token, where it does not belong.
fn elsewhere() -> Vec<Row> {
    let bare = || delivery().without("Authorization");
    let named = |situation, name| stranger(situation, bare().and(name, TOKEN));
    let cookie = ["Authorization=", TOKEN].concat();
    let field = [r#""Authorization":""#, TOKEN, "\""].concat();
    let in_body = with_field(field).without("Authorization");
    vec![
        named("the token in X-Authorization", "X-Authorization"),
        named("the token in X-Forwarded-Authorization", "X-Forwarded-Authorization"),
        named("the token in Authentication", "Authentication"),
        named("the token in X-Api-Key", "X-Api-Key"),
        named("the token in WWW-Authenticate", "WWW-Authenticate"),
        named("the header in British letters", "Authorisation"),
        named("a header that begins like Authorization", "Authorization-Token"),
        stranger("the token in a cookie", bare().and("Cookie", cookie)),
        stranger("the token in the body", in_body),
    ]
}

fn of_targets() -> Vec<Row> {
    let two = |situation, token: &str| stranger(situation, presenting(token)).at(Site::TwoTargets);
    let halves = [&BLOG[..13], &SHOP[13..]].concat();
    let pairs = BLOG.chars().zip(SHOP.chars()).enumerate();
    let woven: String = pairs.map(|(at, (b, s))| if at % 2 == 0 { b } else { s }).collect();
    let list = [BLOG, ", ", SHOP].concat();
    let labelled = ["blog ", BLOG].concat();
    let long = long_token();
    vec![
        two("half of one target's token and half of the other's", &halves),
        two("bytes of two targets' tokens in turn", &woven),
        two("the tokens of two targets in one header", &list),
        two("a target's label", "blog"),
        two("a target's label before its token", &labelled),
        stranger(
            "a secret in quotes that has no scheme word",
            presenting(format!("{NO_SCHEME:?}")),
        )
        .at(Site::NoScheme),
        stranger("one byte less than the longest token", presenting(&long[1..]))
            .at(Site::LongToken),
        stranger("the longest token twice", presenting([&long[..], &long].concat()))
            .at(Site::LongToken),
        stranger("the longest token's first half", presenting(&long[..2048])).at(Site::LongToken),
    ]
}

/// The token all the same.
fn honest() -> Vec<Row> {
    let padded = [TOKEN, &" ".repeat(5000)].concat();
    let beside = delivery().and("Proxy-Authorization", "Bearer guess");
    vec![
        let_in("the token and 5000 spaces", presenting(padded)),
        let_in("the token, and another in Proxy-Authorization", beside),
        let_in("the token, and another in a cookie", delivery().and("Cookie", "token=guess")),
    ]
}
