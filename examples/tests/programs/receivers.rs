use std::fs;

use article_webhook_axum::fixture;

use crate::program::{Program, command};

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
fn an_application_gets_the_articles_of_both_targets_once() {
    let shop = "Bearer a84be02f71c6-9d35";
    let mut command = command("application_axum");
    command.env("ARTICLE_BLOG_TOKEN", fixture::TOKEN).env("ARTICLE_SHOP_TOKEN", shop);
    let mut program = Program::run(&mut command);
    let blog = fixture::complete().job_id("job_1");
    let deliver = |post: &fixture::DeliveryRequest, path: &str| {
        program.request(&format!("POST /webhooks/{path}"), post.headers(), post.bytes()).status
    };
    assert_eq!([deliver(&blog, "articles"), deliver(&blog, "articles")], [200; 2]);
    let of_shop = fixture::complete().token(shop);
    assert_eq!(deliver(&of_shop.clone().job_id("job_2"), "at-once"), 200);
    assert_eq!(deliver(&of_shop.token("Bearer guess"), "at-once"), 401);
    let mut printed = [program.line(), program.line()];
    printed.sort_unstable();
    let title = "\"How to Choose Running Shoes\"";
    assert_eq!(printed, [format!("job_1  blog  {title}"), format!("job_2  shop  {title}")]);
    assert_eq!(program.request("GET /", &[], b"").body, "2 articles\n");
}
