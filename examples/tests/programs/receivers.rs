use std::fs;

use article_webhook_axum::fixture::{self, Defect};
use serde_json::json;

use crate::program::Program;

/// Each with its answer to a delivery: the framework's response to a handler's `Ok(())`, or the sink's reply.
const RECEIVERS: [(&str, (u16, &str)); 5] = [
    ("axum", (200, "")),
    ("actix_web", (204, "")),
    ("hyper", (200, r#"{"status":"stored"}"#)),
    ("inbox_axum", (200, r#"{"status":"stored"}"#)),
    ("inbox_actix_web", (200, r#"{"status":"stored"}"#)),
];

/// How many lines a receiver prints after the first one, before a delivery.
const INVITATION: usize = 7;

#[test]
fn what_is_printed_at_the_start_is_exact() {
    for (example, _) in RECEIVERS {
        let mut program = Program::start(example);
        let address = program.address;
        let expected = format!(
            r#"
Deliver an article to it from another terminal, with the same ARTICLE_WEBHOOK_TOKEN:

  curl -i http://{address}/webhooks/articles --data-binary @tests/fixtures/complete.json \
    -H "Authorization: $ARTICLE_WEBHOOK_TOKEN" -H 'Content-Type: application/json' \
    -H 'X-Service-Event: article.complete' -H 'X-Service-Job-Id: job_7c1e4a52'
"#
        );
        assert_eq!(program.lines(INVITATION), expected);
    }
}

#[test]
fn the_printed_command_delivers_an_article() {
    for (example, ok) in RECEIVERS {
        let mut program = Program::start(example);
        let command = program.lines(INVITATION);

        let file = command.split('@').nth(1).unwrap();
        let file = file.split_whitespace().next().unwrap();
        let body = fs::read(format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let headers = command.split("-H ").skip(1).map(|header| {
            let quoted = header.split(['"', '\'']).nth(1).unwrap();
            let (name, value) = quoted.split_once(": ").unwrap();
            let value = value.replace("$ARTICLE_WEBHOOK_TOKEN", fixture::TOKEN);
            (name.to_owned(), value.into_bytes())
        });
        let length = ("Content-Length".to_owned(), body.len().to_string().into_bytes());
        let headers: Vec<_> = headers.chain([length]).collect();

        let response = program.request("POST /webhooks/articles", &headers, &body);
        assert_eq!((response.status, response.body.as_str()), ok);
        assert_eq!(
            program.line(),
            r#"job_7c1e4a52  "How to Choose Running Shoes"  339 bytes of HTML"#
        );
    }
}

#[test]
fn what_comes_from_outside_cannot_steer_the_terminal() {
    for (example, ok) in RECEIVERS {
        let mut program = Program::start(example);
        program.lines(INVITATION);
        let article = json!({"title": "It's \u{1b}[2J\r\n\u{202e}gone", "html": ""});
        let post = fixture::complete().field("article", article).job_id("job_\u{202e}7");
        assert_eq!(program.deliver(&post).status, ok.0);
        assert_eq!(
            program.line(),
            r#"job_\u{202e}7  "It's \u{1b}[2J\r\n\u{202e}gone"  0 bytes of HTML"#
        );
    }
}

#[test]
fn a_wrong_token_is_refused_and_only_the_log_says_why() {
    for (example, _) in RECEIVERS {
        let mut program = Program::start(example);
        program.lines(INVITATION);
        let response = program.deliver(&fixture::complete().defect(Defect::WrongToken));
        let expected =
            r#"{"error":"unauthorized","message":"the credentials are missing or wrong"}"#;
        assert_eq!((response.status, response.body.as_str()), (401, expected));
        let log = program.log();
        assert!(log.contains("the Authorization header is not an accepted token"), "{log}");
        assert!(!log.contains("fixture-"), "{log}");

        program.deliver(&fixture::minimal().job_id("job_next"));
        assert!(program.line().starts_with("job_next "));
    }
}

#[test]
fn broken_json_is_refused() {
    for (example, _) in RECEIVERS {
        let program = Program::start(example);
        let response = program.deliver(&fixture::complete().defect(Defect::TruncatedBody));
        let expected =
            r#"{"error":"malformed_json","message":"the body is not one well-formed JSON object"}"#;
        assert_eq!((response.status, response.body.as_str()), (400, expected));
    }
}

#[test]
fn each_is_short() {
    for (source, most) in [
        (include_str!("../../axum.rs"), 40),
        (include_str!("../../actix_web.rs"), 40),
        (include_str!("../../inbox_axum.rs"), 60),
        (include_str!("../../inbox_actix_web.rs"), 60),
    ] {
        assert!(source.lines().count() < most, "{source}");
    }
}
