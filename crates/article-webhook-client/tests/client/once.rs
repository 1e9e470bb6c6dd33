//! Calls with one attempt: nothing is repeated, and nothing is waited for.

use std::time::{Duration, Instant};

use article_webhook_client::{CallOutcome, NewArticle};
use reqwest::{
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};

use crate::{
    reads::COMPLETE,
    service::{KEY, Line, Service, answer, asked_once, cut, json, torn},
};

#[tokio::test]
async fn a_pause_that_the_service_asks_for_is_handed_out_and_not_waited_for() {
    for headers in [
        "retry-after: 259200\r\n",
        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Wed, 09 Nov 1994 08:49:37 GMT\r\n",
    ] {
        let service = Service::start([answer(429, headers, ""), json(200, COMPLETE)]);
        let (client, start) = (service.client(), Instant::now());
        let three_days = Some(Duration::from_secs(259_200));
        let error = client.create_article_once(&NewArticle::new("Shoes")).await.unwrap_err();
        assert_eq!(error.retry_after(), three_days);
        assert!(!error.is_outcome_unknown() && error.is_transient());

        let service = Service::start([answer(429, headers, ""), json(200, COMPLETE)]);
        let response = service.client().article_once(&"job_1".parse().unwrap()).await.unwrap();
        assert_eq!(response.retry_after, three_days);
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(service.count(), 1);
    }
}

#[tokio::test]
async fn a_call_without_a_response_is_made_once_and_says_whether_it_was_sent() {
    let slow = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec();
    for (line, message) in [
        (cut(), "the connection to the service broke"),
        (torn(200), "the connection to the service broke"),
        (Line::Hang(Vec::new()), "the service did not answer in time"),
        (Line::Hang(slow), "the service did not answer in time"),
    ] {
        let service = Service::start([line, json(200, COMPLETE)]);
        let timeout = Duration::from_millis(300);
        let client = service.builder("").timeout(timeout).build().unwrap();
        assert_eq!(client.timeout(), timeout);
        let error = client.article_once(&"job_1".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.is_transient() && !error.is_outcome_unknown());
        assert!(error.response().is_none() && error.status().is_none());
        assert_eq!(service.count(), 1);
    }
    for line in [cut(), Line::Hang(Vec::new())] {
        let service = Service::start([line, json(200, COMPLETE)]);
        let client = service.builder("").timeout(Duration::from_millis(300)).build().unwrap();
        let error = client.create_article_once(&NewArticle::new("Shoes")).await.unwrap_err();
        assert!(error.is_outcome_unknown() && error.response().is_none(), "{error}");
        assert_eq!(service.count(), 1);
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let key = article_webhook_client::ApiKey::new(KEY).unwrap();
    let client =
        article_webhook_client::Client::new(key, &format!("http://127.0.0.1:{port}")).unwrap();
    let error = client.create_article_once(&NewArticle::new("Shoes")).await.unwrap_err();
    assert_eq!(error.to_string(), "the service cannot be reached");
    assert!(error.is_transient() && !error.is_outcome_unknown(), "nothing was sent");
}

#[tokio::test]
async fn a_redirect_is_an_outcome_and_the_key_goes_nowhere_else() {
    let trap = Service::start([json(200, COMPLETE)]);
    let places = [format!("http://{}/", trap.address), "/elsewhere".to_owned(), "//x".to_owned()];
    let statuses = [300, 301, 302, 303, 304, 307, 308, 399];
    for (status, place) in statuses.into_iter().flat_map(|it| places.each_ref().map(|to| (it, to)))
    {
        let service = Service::start([answer(status, &format!("location: {place}\r\n"), "")]);
        let response = service.client().article_once(&"job_1".parse().unwrap()).await.unwrap();
        assert!(matches!(response.outcome, CallOutcome::Redirect), "{response:?}");
        assert!(service.client().article(&"job_1".parse().unwrap()).await.is_err());
        let order = NewArticle::new("Shoes");
        let error = service.client().create_article_once(&order).await.unwrap_err();
        // A redirect is a usual response to a form that was carried out, unless it asks to send the same request elsewhere.
        let is_unknown = ![301, 307, 308].contains(&status);
        assert_eq!(error.status().unwrap(), status);
        assert_eq!(error.is_outcome_unknown(), is_unknown);
        assert_eq!(service.count(), 3);
    }
    assert_eq!(trap.count(), 0);
}

#[tokio::test]
async fn an_http_client_of_the_application_follows_no_redirect_and_replaces_no_key() {
    let trap = Service::start([json(200, COMPLETE)]);
    let location = format!("location: http://{}/\r\n", trap.address);
    let service = Service::start([answer(302, &location, "")]);
    let headers = [
        (AUTHORIZATION, HeaderValue::from_static("Bearer another")),
        (HeaderName::from_static("x-team"), HeaderValue::from_static("blog")),
    ];
    let http = reqwest::Client::builder()
        .redirect(Policy::limited(3))
        .proxy(reqwest::Proxy::all(format!("http://{}", trap.address)).unwrap())
        .default_headers(HeaderMap::from_iter(headers));
    let client = service.builder("").build_with(http).unwrap();
    let response = client.article_once(&"job_1".parse().unwrap()).await.unwrap();
    assert!(matches!(response.outcome, CallOutcome::Redirect), "{response:?}");
    let head = &service.requests()[0].head;
    assert!(head.contains(&format!("authorization: Bearer {KEY}\r\n")), "{head}");
    assert!(head.contains("x-team: blog") && !head.contains("another"), "{head}");
    assert_eq!((service.count(), trap.count()), (1, 0));
}

#[tokio::test]
async fn bytes_of_a_result_that_cannot_be_decoded_are_kept_whole() {
    let spaces = " ".repeat(2 << 20);
    let untitled = COMPLETE.replace("\"title\"", "\"name\"");
    let cut = COMPLETE.trim_end_matches('}').to_owned();
    let of_another = COMPLETE.replace("job_1", "job_2");
    let unnamed = COMPLETE.replace("\"job_1\"", "7");
    for body in [untitled, cut, of_another, unnamed] {
        let body = [&*body, &*spaces].concat();
        let response = asked_once(json(200, &body)).await;
        assert!(!matches!(response.outcome, CallOutcome::Complete(_)), "{response:?}");
        assert!(response.body == body, "{} bytes: {response:?}", response.body.len());
    }
}
