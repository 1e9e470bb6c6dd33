//! The checks themselves are tried: a small crate that keeps every rule, and one breach of each kind in it.

use std::collections::BTreeMap;

use crate::{check, source::Source};

const SOUND: [(&str, &str); 6] = [
    (
        "lib.rs",
        "mod json;\n\n// Two of one layer.\nmod article;\n#[cfg(feature = \"a\")]\npub mod auth;\n\n\
         mod answer;\n\npub use article::JobId;\npub use std::fmt;\n",
    ),
    ("json.rs", "mod value;\npub(crate) use value::Value;\nuse crate::fmt;\n"),
    ("json/value.rs", "#[cfg(test)]\nmod tests {\n    use crate::answer::Answer;\n}\n"),
    ("article.rs", "pub struct JobId;\n"),
    ("auth.rs", "/// See [`crate::answer::Code`].\nstruct S;\n"),
    ("answer/mod.rs", "use crate::{json::{self, Value}, JobId};\nfn f() { Rejection::TooLarge }\n"),
];

/// What is found in the sound crate with these lines behind those of its files.
fn planted(lines: &[(&str, &str)]) -> String {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (file, lines) in SOUND.iter().chain(lines) {
        files.entry((*file).to_owned()).or_default().push_str(lines);
    }
    let places = "too large | 413 Rejection::TooLarge | low/src/answer/\na clock | Instant::now |";
    check(&[Source::of("low", &files)], places).join("\n")
}

#[test]
fn each_breach_is_found_and_nothing_else() {
    assert_eq!(planted(&[]), "");
    for line in [
        "use crate::{\n    auth::Token,\n    fmt,\n};",
        "use crate::JobId as Id;",
        "fn f() { log!(x => g::<super::auth::Token>()) }",
        "mod inner {\n    use super::super::auth::*;\n}",
        "#[serde(with = \"crate::auth\")]\nstruct S;",
    ] {
        let found = planted(&[("json.rs", line)]);
        assert!(found.contains(": `json` uses `"), "{line}\n{found}");
    }
    for (line, found) in [
        ("use crate::JobId;", "`auth` uses `crate::JobId`, and `article` is in no earlier group"),
        ("use super::*;", "`super` is not of a module: name the module"),
        ("use crate::Absent;", "`crate::Absent` is not of a module: name the module"),
        (
            "fn f() { Err(Rejection::TooLarge { limit }) }",
            "too large, which has its place elsewhere",
        ),
        ("const LATE: &str = \"HTTP/1.1 413\";", "too large, which has its place elsewhere"),
        ("fn f() { std::time::Instant::now() }", "a clock, which has its place elsewhere"),
    ] {
        let found = format!("crates/low/src/auth.rs:3: {found}");
        assert!(planted(&[("auth.rs", line)]).starts_with(&found), "{found}");
    }
    let circle = [
        ("json.rs", "mod a;\nuse a::A;\nfn read() {}\n"),
        ("json/a.rs", "use super::value::B;\n"),
        ("json/value.rs", "use super::read;\n"),
    ];
    assert!(planted(&circle).contains("a circle of crates/low/src/json.rs, crates/low/src/json/a"));
    assert_eq!(check(&[], "a clock | now | low").len(), 1, "a place that has nothing is found");
}
