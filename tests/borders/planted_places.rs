//! Second places of what has one, planted into the sound crate of `planted`.

use crate::{
    check,
    planted::{finding, with},
    sources::Sources,
};

const FIX: &str = "call what is there already, instead of saying it again";

#[test]
fn a_second_413_is_found_in_both_places() {
    let found = with("src/auth.rs", "fn f() { respond(StatusCode::PAYLOAD_TOO_LARGE) }\n");
    let rule = "the status 413 is in one file of article-webhook alone, and in at most one file each of \
                article-webhook-server, article-webhook-simulator, article-webhook-check, article-webhook-cli";
    let (first, second) = ("src/answer/wire.rs:3", "src/auth.rs:4");
    let elsewhere =
        |at: &str| format!("the status 413, which is in crates/article-webhook/{at} as well");
    assert_eq!(
        found,
        finding(first, &elsewhere(second), rule, FIX)
            + &finding(second, &elsewhere(first), rule, FIX)
    );
}

#[test]
fn a_second_decision_that_a_body_is_too_large_is_found_in_both_places() {
    let found =
        with("src/auth.rs", "fn f() { return Err(crate::fmt::Rejection::TooLarge { limit }); }\n");
    let what = "the decision that a body is too large";
    let rule = format!("{what} is in one file of article-webhook alone");
    let (first, second) = ("src/answer.rs:6", "src/auth.rs:4");
    let elsewhere = |at: &str| format!("{what}, which is in crates/article-webhook/{at} as well");
    assert_eq!(
        found,
        finding(first, &elsewhere(second), &rule, FIX)
            + &finding(second, &elsewhere(first), &rule, FIX)
    );
}

#[test]
fn every_form_of_a_second_place_is_found() {
    for line in [
        "fn f() { Rejection::TooLarge { limit } }",
        "impl From<Limit> for Rejection { fn from(limit: Limit) -> Self { Self::TooLarge { limit } } }",
        "use fmt::Rejection as R; fn f() { R::TooLarge { limit } }",
        "use fmt::Rejection::TooLarge; fn f() { TooLarge { limit } }",
        "use fmt::Rejection::*; fn f() { TooLarge { limit } }",
        "fn f() { vec![Rejection::TooLarge { limit }] }",
        "fn f() { select! { x => Rejection::TooLarge { limit } } }",
        "fn f() { Err(Rejection::MethodNotPost) }",
        "fn f() { x.map_err(|_| Rejection::MethodNotPost) }",
        "const STATUS: u16 = 413;",
        "fn f() { assert_eq!(status, 413_u16) }",
        "fn f() { match status { 413 => {} } }",
        "fn f() { HttpResponse::PayloadTooLarge().finish() }",
        "const LATE: &[u8] = b\"HTTP/1.1 413 Content Too Large\\r\\n\\r\\n\";",
        "fn f() { StatusCode::METHOD_NOT_ALLOWED }",
        "fn f() { format!(\"{}\", 405) }",
        "fn f() { HttpResponse::MethodNotAllowed() }",
        "fn f() { write!(out, \"HTTP/1.1 405 Method Not Allowed\\r\\n\") }",
    ] {
        let found = with("src/auth.rs", line);
        assert!(found.contains("\ncrates/article-webhook/src/auth.rs:4: the "), "{line}\n{found}");
        assert_eq!(found.matches("rule:").count(), 2, "{line}\n{found}");
    }
}

#[test]
fn patterns_names_of_other_types_tests_and_docs_are_no_second_place() {
    for line in [
        "fn f() { match rejection { Rejection::TooLarge { limit } => {}, Rejection::MethodNotPost => {} } }",
        "fn f() { matches!(x, Rejection::MethodNotPost | Rejection::TooLarge { .. }) }",
        "fn f() { if let Err(Rejection::MethodNotPost) = x {} }",
        "fn f() { Kind::TooLarge { limit } }",
        "use fmt::Rejection::*; fn f() { MethodIsPost }",
        "const PORT: u16 = 4130;",
        "const NOTE: &str = \"answers 413\";",
        "/// Answers 413, as [`Rejection::TooLarge`] does.\nstruct S;",
        "#[cfg(test)] mod tests { fn f() { Rejection::TooLarge { limit: 413 } } }",
    ] {
        assert_eq!(with("src/auth.rs", line), "", "{line}");
    }
}

#[test]
fn another_crate_has_no_place_or_one() {
    let lib = ("src/lib.rs", "mod a;\nmod b;\n");
    let status = "const STATUS: u16 = 413;\n";
    let check = |name, b| {
        let sources = Sources::new(name, &[lib, ("src/a.rs", status), ("src/b.rs", b)]);
        check(&[sources])
            .iter()
            .map(|finding| format!("{}:{:?}", finding.file, finding.line))
            .collect::<Vec<_>>()
    };
    assert_eq!(check("article-webhook-axum", ""), ["crates/article-webhook-axum/src/a.rs:Some(1)"]);
    assert!(check("article-webhook-server", "").is_empty());
    assert_eq!(check("article-webhook-server", status).len(), 2);
}

#[test]
fn a_rule_that_finds_nothing_in_its_home_says_so() {
    let sources = Sources::new("article-webhook", &[("src/lib.rs", "")]);
    let whats: Vec<String> = check(&[sources]).into_iter().map(|finding| finding.what).collect();
    assert_eq!(
        whats,
        [
            "the decision that a body is too large is nowhere",
            "the decision that a method is not POST is nowhere",
            "the status 413 is nowhere",
            "the status 405 is nowhere",
        ]
    );
}
