use std::{thread, time::Duration};

use article_webhook_simulator::Simulator;

use super::{
    doctor, found,
    server::{answer, read, serve, serve_connections},
};
use crate::free_port::free_port;

const KEY: &str = "sk-simulator";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_service_refuses_is_found() {
    let service = Simulator::builder().start().await.unwrap();
    let url = service.base_url();
    let run = |key: &str| found(doctor(&["--api-url", &url]).env("ARTICLE_API_KEY", key));
    run(KEY).has("service.key_accepted", "ok");
    let refused = run("sk-0d9c4b7fa3e8");
    refused.has("service.key_refused", "fail");
    assert!(!refused.out.contains("0d9c4b7fa3e8"), "{}", refused.out);
    run("two words\u{7}").has("service.settings", "fail");
}

#[test]
fn a_service_that_does_not_answer_as_documented_is_found() {
    for (status, body, code, severity) in [
        ("403 Forbidden", "", "service.key_forbidden", "fail"),
        ("404 Not Found", "<h1>nothing here</h1>", "service.wrong_url", "fail"),
        ("200 OK", "<h1>welcome</h1>", "service.wrong_url", "fail"),
        ("302 Found", "", "service.wrong_url", "fail"),
        ("429 Too Many Requests", "", "service.rate_limited", "warn"),
        ("503 Service Unavailable", "", "service.unavailable", "fail"),
        ("418 I'm a teapot", "", "service.unexpected", "fail"),
    ] {
        let url = serve(move |_| answer(status, "", body));
        let url = url.trim_end_matches("/webhooks/articles");
        found(doctor(&["--api-url", url]).env("ARTICLE_API_KEY", KEY)).has(code, severity);
    }
}

#[test]
fn a_service_that_is_not_reached_or_half_named_is_found() {
    let closed = format!("http://{}", free_port());
    let with_key =
        |url: &str| found(doctor(&[]).env("ARTICLE_API_URL", url).env("ARTICLE_API_KEY", KEY));
    with_key(&closed).has("service.unreachable", "fail");
    with_key("http://nothing.invalid").has("service.settings", "fail");
    with_key("https://nothing.invalid").has("service.unreachable", "fail");
    found(&mut doctor(&["--api-url", &closed])).has("service.key_not_set", "warn");
    let no_file = ["--api-url", &closed, "--api-key-file", "no-such-file"];
    found(&mut doctor(&no_file)).has("service.key_unreadable", "fail");
    found(doctor(&[]).env("ARTICLE_API_KEY", KEY)).has("service.url_not_set", "warn");
    let silent = serve_connections("127.0.0.1", |mut stream| {
        read(&mut stream);
        thread::sleep(Duration::from_secs(60));
    });
    let silent = with_key(&format!("http://{silent}"));
    silent.has("service.unreachable", "fail");
    assert!(silent.out.contains("the service did not answer within 10 s"), "{}", silent.out);
}
