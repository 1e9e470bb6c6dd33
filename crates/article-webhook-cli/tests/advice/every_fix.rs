//! Each fix that the tool prints stands in a test, or here with the reason why none takes its steps.

use std::{fs, path::Path};

/// Fixes that no test can follow.
const EXCEPTIONS: [(&str, &str); 6] = [
    (
        "build it with the feature `postgres`, or name the file of an inbox",
        "the tests are built with it",
    ),
    (
        "check the host and the port of the URL, and whether a firewall drops what is sent there",
        "it comes after ten seconds; the tests of the store follow the same text",
    ),
    ("get more credits: {url}", "the page of the service is not simulated"),
    (
        "repeat it on an idle machine; if it fails again, report it with what it printed",
        "a machine that is too busy for the demo is none for tests",
    ),
    (
        "upgrade the server",
        "no server that is too old is installed; the tests of the store follow the same text",
    ),
    ("update the tool; then repeat the command", "this version knows every outcome of an order"),
];

#[test]
fn each_fix_of_the_tool_is_taken_by_a_test_or_has_a_reason() {
    let of = |folder: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut text = String::new();
        read(&folder, &mut text);
        text
    };
    let (source, tests) = (of("src"), of("tests"));
    let fixes = source.split(".fix(").skip(1).filter_map(|rest| {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
        let name: String = rest
            .chars()
            .take_while(|letter| letter.is_ascii_uppercase() || *letter == '_')
            .collect();
        if name.is_empty() {
            return literal(rest);
        }
        literal(source.split(&format!("const {name}: &str =")).nth(1)?.trim_start())
    });
    let mut without: Vec<_> =
        fixes.filter(|fix| !pieces(fix).all(|it| tests.contains(it))).collect();
    without.sort_unstable();
    without.dedup();
    let reasons = EXCEPTIONS.map(|(fix, _)| fix);
    let missing: Vec<_> = without.iter().filter(|fix| !reasons.contains(&fix.as_str())).collect();
    assert!(missing.is_empty(), "no test follows: {missing:#?}");
    let needless: Vec<_> =
        reasons.iter().filter(|reason| !without.iter().any(|fix| fix == *reason)).collect();
    assert!(needless.is_empty(), "a test follows, or they are gone: {needless:#?}");
}

/// The texts of all files in a folder. Lines that are continued are one, and what is escaped stands for itself. This file is
/// left out: it only names what is not followed.
fn read(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, text);
        } else if !path.ends_with("every_fix.rs") {
            let mut lines = fs::read_to_string(&path).unwrap_or_default();
            while let Some(at) = lines.find("\\\n") {
                let rest = lines[at + 2..].trim_start().len();
                lines.replace_range(at..lines.len() - rest, "");
            }
            // Outside of Rust a quotation mark stands for itself.
            let quoted = if path.extension().is_some_and(|it| it == "txt") { "\"" } else { "\\\"" };
            text.push_str(&lines.replace(quoted, "\u{1}"));
        }
    }
}

/// The literal at the beginning.
fn literal(text: &str) -> Option<String> {
    text.strip_prefix('"')?.split('"').next().map(str::to_owned)
}

/// What stands between the values of a format.
fn pieces(format: &str) -> impl Iterator<Item = &str> {
    format.split('{').map(|piece| piece.rsplit('}').next().unwrap()).filter(|piece| piece.len() > 9)
}
