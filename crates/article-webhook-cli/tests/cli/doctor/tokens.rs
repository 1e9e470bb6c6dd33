use std::fs;

use super::{doctor, found};
use crate::tool::{seen, text, tool};

#[test]
fn a_token_that_is_weak_quoted_or_a_placeholder_is_found_and_not_shown() {
    for (token, code, severity) in [
        ("Bearer 0d9c4b7fa3e81625c7", "token.sound", "ok"),
        ("Bearer 0d9c4b7f", "token.short", "warn"),
        ("Bearer abababababababababab", "token.weak", "warn"),
        ("0d9c4b7fa3e81625c7", "token.no_scheme", "warn"),
        ("'Bearer 0d9c4b7fa3e81625c7'", "token.quoted", "fail"),
        ("Bearer \"0d9c4b7fa3e81625c7\"", "token.quoted", "warn"),
        ("Bearer changeme", "token.placeholder", "fail"),
        ("Bearer your-token-here", "token.placeholder", "fail"),
        ("Bearer ${WEBHOOK_TOKEN}", "token.placeholder", "fail"),
        ("Bearer 5f2b9c0e7a1d4e38", "token.example", "fail"),
        ("Bearer my-secret-token-1234", "token.example", "fail"),
        ("Bearer ", "token.invalid", "fail"),
        ("Bearer Bearer 0d9c4b7fa3e81625c7", "token.invalid", "fail"),
    ] {
        let found = found(doctor(&[]).env("ARTICLE_WEBHOOK_TOKEN", token));
        found.has(code, severity);
        assert_eq!(found.of("token.sound") == "ok", code == "token.sound", "{token}");
        for secret in ["0d9c4b7f", "abababab", "5f2b9c0e", "1234"] {
            assert!(!found.out.contains(secret), "{token}: {}", found.out);
        }
    }
}

#[test]
fn a_file_that_kept_its_quotation_marks_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let env_file = folder.path().join(".env");
    // As a tool writes it that quotes what is quoted already.
    fs::write(&env_file, "ARTICLE_WEBHOOK_TOKEN=\"'Bearer 0d9c4b7fa3e81625c7'\"\n").unwrap();
    let mut run = tool(["doctor", "--json", "--env-file", text(&env_file)]);
    found(&mut run).has("token.quoted", "fail");
    fs::write(&env_file, "ARTICLE_WEBHOOK_TOKEN='Bearer 0d9c4b7fa3e81625c7'\n").unwrap();
    found(&mut run).has("token.sound", "ok");

    let file = folder.path().join("token");
    fs::write(&file, "\"Bearer 0d9c4b7fa3e81625c7\"\n").unwrap();
    found(&mut doctor(&["--token-file", text(&file)])).has("token.quoted", "fail");
    let missing = folder.path().join("missing");
    found(&mut doctor(&["--token-file", text(&missing)])).has("token.unreadable", "fail");
}

#[test]
fn what_is_not_named_is_said_to_be_not_checked() {
    let found = found(&mut tool(["doctor", "--json"]));
    assert_eq!(found.exit, Some(0));
    found.has("token.not_set", "warn");
    for code in ["service.not_named", "receiver.not_named", "clock.no_date", "inbox.not_named"] {
        found.has(code, "not_checked");
    }
    assert_eq!(found.findings.len(), 5);
    let sum = "{\"failed\":0,\"not_checked\":4,\"ok\":0,\"warnings\":1}\n";
    assert!(found.out.ends_with(sum), "{}", found.out);

    let (_, out, _) = seen(&tool(["doctor"]).output().unwrap());
    assert!(out.ends_with("\n0 in order, 1 warning, 0 failed, 4 not checked\n"), "{out}");
}
