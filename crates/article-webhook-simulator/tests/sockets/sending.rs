use std::time::Duration;

use article_webhook::ArticleResult;
use article_webhook_simulator::{
    Attempt, Fault, Rule, Simulator, SimulatorBuilder, SimulatorClock,
};
use tokio::net::TcpListener;

use crate::receiver::{Receiver, raw};

const TOKEN: &str = "Bearer secret";
const DAY: Duration = Duration::from_secs(24 * 3600);

fn stepped(url: &str) -> SimulatorBuilder {
    Simulator::builder().seed(7).clock(SimulatorClock::stepped()).publish_target(url, TOKEN)
}

/// One job, and the attempts of a whole day.
async fn day_of(builder: SimulatorBuilder) -> (Simulator, Vec<Attempt>) {
    let simulator = builder.start().await.unwrap();
    simulator.order("Shoes").await.unwrap();
    simulator.advance(DAY).await;
    let attempts = simulator.attempts();
    (simulator, attempts)
}

fn status(attempt: &Attempt) -> u16 {
    attempt.outcome.answer.as_ref().map_or(0, |answer| answer.status.as_u16())
}

fn why(attempt: &Attempt) -> &str {
    attempt.outcome.answer.as_ref().unwrap_err()
}

#[tokio::test]
async fn retries_come_at_0_10_70_and_370_seconds_with_the_same_bytes() {
    let receiver = Receiver::start(&[500, 404, 302, 503]).await;
    let (simulator, attempts) = day_of(stepped(&receiver.url)).await;
    let start = simulator.jobs()[0].ends_at;
    let seen: Vec<_> =
        attempts.iter().map(|attempt| ((attempt.at - start).as_secs(), status(attempt))).collect();
    assert_eq!(seen, [(0, 500), (10, 404), (70, 302), (370, 503)], "no redirect is followed");
    assert_eq!(attempts[0].outcome.answer.as_ref().unwrap().start, "answer 500");
    let came = receiver.came();
    assert_eq!(came.len(), 4);
    assert!(came.iter().all(|one| one.body == came[0].body && one.headers == came[0].headers));
}

#[tokio::test]
async fn a_request_is_written_as_the_document_shows_it() {
    let (url, came) = raw(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    let (simulator, attempts) = day_of(stepped(&url)).await;
    assert_eq!(attempts.iter().map(status).collect::<Vec<_>>(), [204]);
    let came = String::from_utf8(came.await.unwrap()).unwrap();
    let (head, body) = came.split_once("\r\n\r\n").unwrap();
    let mut head: Vec<_> = head.split("\r\n").collect();
    head.sort_unstable();
    let job_id = &simulator.jobs()[0].job_id;
    let host = url.trim_start_matches("http://").split('/').next().unwrap();
    let length = format!("Content-Length: {}", body.len());
    assert_eq!(
        head,
        [
            "Authorization: Bearer secret",
            &length,
            "Content-Type: application/json",
            &format!("Host: {host}"),
            "POST /hook?shop=1 HTTP/1.1",
            "X-Service-Event: article.complete",
            &format!("X-Service-Job-Id: {job_id}"),
        ]
    );
    assert_eq!(ArticleResult::from_json(body.as_bytes()).unwrap().job_id.as_str(), job_id);
}

#[tokio::test]
async fn a_chunked_delivery_has_chunks_and_no_length() {
    let (url, came) = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let rule = Rule::new(Fault::Chunked);
    let (_, attempts) = day_of(stepped(&url).fault(rule)).await;
    assert_eq!(attempts.iter().map(status).collect::<Vec<_>>(), [200]);
    let came = String::from_utf8(came.await.unwrap()).unwrap();
    assert!(came.contains("Transfer-Encoding: chunked"), "{came}");
    assert!(!came.contains("Content-Length"));
}

#[tokio::test]
async fn a_cut_delivery_ends_in_the_middle_of_its_body() {
    let receiver = Receiver::start(&[]).await;
    let rule = Rule::new(Fault::Cut).attempt(1);
    let (_, attempts) = day_of(stepped(&receiver.url).fault(rule)).await;
    assert_eq!(why(&attempts[0]), "the connection was cut");
    assert_eq!(status(&attempts[1]), 200);
    let came = receiver.came();
    assert_eq!((came.len(), &came[0].body), (2, &None));
    let whole = came[1].body.as_ref().unwrap();
    assert_eq!(came[0].headers["content-length"], whole.len().to_string());
}

#[tokio::test]
async fn a_slow_delivery_takes_its_time_and_arrives_complete() {
    let receiver = Receiver::start(&[]).await;
    let rule = Rule::new(Fault::Slow(Duration::from_millis(200)));
    let (_, attempts) = day_of(stepped(&receiver.url).fault(rule)).await;
    assert!(attempts[0].outcome.took >= Duration::from_millis(200));
    assert_eq!(status(&attempts[0]), 200);
    assert!(ArticleResult::from_json(receiver.came()[0].body.as_ref().unwrap()).is_ok());
}

#[tokio::test]
async fn a_receiver_that_is_down_or_does_not_speak_http_is_retried() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let (_, attempts) = day_of(stepped(&url)).await;
    assert_eq!(attempts.len(), 4);
    assert!(why(&attempts[0]).contains("refused"), "{}", why(&attempts[0]));

    let (url, _came) = raw(b"220 mail.test ESMTP\r\n").await;
    let (_, attempts) = day_of(stepped(&url)).await;
    assert_eq!(attempts.len(), 4);
    assert!(attempts[0].outcome.answer.is_err());
}

#[tokio::test]
async fn deliveries_go_to_this_machine_only() {
    for fault in [Fault::AnswerLost, Fault::Chunked, Fault::Cut] {
        let simulator = stepped("http://receiver.invalid/").fault(Rule::new(fault));
        let (_, attempts) = day_of(simulator).await;
        assert_eq!(
            why(&attempts[0]),
            "the simulator delivers to this machine only: allow_network lifts this"
        );
    }
}
