use std::{thread, time::Duration};

use article_webhook_simulator::Simulator;

use super::{doctor, found};
use crate::{
    free_port::free_port,
    server::{answer, read, serve, serve_connections},
};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_does_not_answer_as_documented_is_found_until_it_does() {
    const BEFORE_V1: &str = "give the part of the URL before /v1";
    let service = Simulator::builder().start().await.unwrap();
    let run = |url: &str| found(doctor(&["--api-url", url]).env("ARTICLE_API_KEY", KEY));
    let sound = run(&service.base_url());
    for (status, code, severity, fix) in [
        (
            "403 Forbidden",
            "key_forbidden",
            "fail",
            "give the key the right to read articles, or use another key; a proxy may answer 403 as well",
        ),
        ("404 Not Found", "wrong_url", "fail", BEFORE_V1),
        ("200 OK", "wrong_url", "fail", BEFORE_V1),
        ("302 Found", "wrong_url", "fail", BEFORE_V1),
        (
            "429 Too Many Requests",
            "rate_limited",
            "warn",
            "try again later: whether the key is accepted is not known",
        ),
        (
            "503 Service Unavailable",
            "unavailable",
            "fail",
            "try again later; if others can use it, check ARTICLE_API_URL",
        ),
        (
            "418 I'm a teapot",
            "unexpected",
            "fail",
            "check ARTICLE_API_URL, and whether the service has a newer document",
        ),
    ] {
        let wrong = run(&serve(move |_| answer(status, "", "<h1>nothing here</h1>")));
        wrong.is_cured(&format!("service.{code}"), severity, fix, &sound);
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
    let silent = serve_connections("127.0.0.1", |mut stream| {
        read(&mut stream);
        thread::sleep(Duration::from_secs(60));
    });
    let silent = with_key(&format!("http://{silent}"));
    silent.has("service.unreachable", "fail");
    assert!(silent.out.contains("the service did not answer within 10 s"), "{}", silent.out);
}
