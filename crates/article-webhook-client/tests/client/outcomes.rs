//! What each response means, in one table: for a call with one attempt, and for one that is repeated.

use article_webhook_client::{CallOutcome, JobId, NewArticle};

use crate::{
    reads::COMPLETE,
    service::{KEY, Line, Service, answer, json, torn},
};

/// A response, and what is concluded from it.
struct Row {
    what: &'static str,
    line: Line,
    /// The `Debug` of the outcome.
    outcome: &'static str,
    message: String,
}

fn row(what: &'static str, line: Line, outcome: &'static str, message: impl Into<String>) -> Row {
    Row { what, line, outcome, message: message.into() }
}

/// A body without end.
fn flood(head: &str) -> Line {
    Line::Flood(format!("HTTP/1.1 {head}\r\n\r\n").into(), vec![b' '; 65536])
}

fn error(status: u16, code: &str) -> Line {
    json(status, &format!(r#"{{"error":"{code}","message":"Why."}}"#))
}

/// What may come after a question for `job_1`.
fn to_a_question() -> Vec<Row> {
    let failed = r#"{"error":"generation_failed","message":"It failed at draft.","details":{"step":"draft","credits_refunded":3}}"#;
    let late = [COMPLETE, &" ".repeat(1 << 20)]
        .concat()
        .replace("complete", "queued")
        .replace(r#""article""#, r#""outline""#);
    vec![
        row(
            "a job that is not complete",
            json(200, r#"{"job_id":"job_1","status":"queued"}"#),
            r#"Unfinished { status: Some("queued") }"#,
            r#"the job is not complete, its status is "queued""#,
        ),
        row(
            // A delivery with this body is an article: the service sends none before the job is complete.
            "an article of a job that is not complete",
            json(200, &COMPLETE.replace("complete", "writing")),
            r#"Draft { status: Some("writing") }"#,
            r#"the job has an article, which may be a draft: its status is "writing""#,
        ),
        row(
            "an article without a status",
            json(200, &COMPLETE.replace("status", "state")),
            "Draft { status: None }",
            "the job has an article, which may be a draft: it has no status",
        ),
        row(
            "a synonym of complete without an article",
            json(200, r#"{"job_id":"job_1","status":"success"}"#),
            r#"Unfinished { status: Some("success") }"#,
            r#"the job is not complete, its status is "success""#,
        ),
        row(
            "a failure as a status",
            json(200, r#"{"job_id":"job_1","status":"Failed","article":null}"#),
            r#"FailedState { state: "Failed" }"#,
            r#"the service says that the job has failed: "Failed""#,
        ),
        row(
            "a failure as a status that must be repaired",
            json(200, r#"{"job_id":"job_1","status":"error","message":"half \ud83c"}"#),
            r#"FailedState { state: "error" }"#,
            r#"the service says that the job has failed: "error""#,
        ),
        row(
            "a failure as a code beside the job",
            json(200, r#"{"job_id":"job_1","status":"complete","error":"credits_exhausted"}"#),
            r#"FailedState { state: "credits_exhausted" }"#,
            r#"the service says that the job has failed: "credits_exhausted""#,
        ),
        row(
            "a failed pipeline as a success",
            json(200, failed),
            r#"FailedState { state: "generation_failed" }"#,
            r#"the service says that the job has failed: "generation_failed""#,
        ),
        row(
            "a code that is about the call",
            json(200, r#"{"job_id":"job_1","error":"rate_limit_exceeded"}"#),
            "Unfinished { status: None }",
            "the job is not complete",
        ),
        row(
            "a failure of no job",
            json(200, r#"{"status":"failed"}"#),
            r#"Unfinished { status: Some("failed") }"#,
            r#"the job is not complete, its status is "failed""#,
        ),
        row(
            "an article of a job that failed",
            json(200, &COMPLETE.replace("complete", "failed")),
            "Undecodable(status: the service reports a failure, `failed`)",
            "the answer is no article result: status: the service reports a failure, `failed`",
        ),
        row(
            "the failure of a job that must be repaired",
            json(500, &failed.replace("at draft.", r"at \ud83c")),
            r#"Failed { step: Some("draft"), credits_refunded: Some(3) }"#,
            "generation_failed (500): It failed at \u{fffd}",
        ),
        row(
            "a job without a status",
            json(202, r#"{"job_id":"job_1"}"#),
            "Unfinished { status: None }",
            "the job is not complete",
        ),
        row(
            "the failure of a job",
            json(500, failed),
            r#"Failed { step: Some("draft"), credits_refunded: Some(3) }"#,
            "generation_failed (500): It failed at draft.",
        ),
        row(
            "a failure under another status",
            json(502, failed),
            "Unavailable",
            "generation_failed (502): It failed at draft.",
        ),
        row(
            "an unknown job",
            error(404, "job_not_found"),
            "JobNotFound",
            "job_not_found (404): Why.",
        ),
        row(
            "an unknown job under another status",
            error(410, "job_not_found"),
            "Refused",
            "job_not_found (410): Why.",
        ),
        row(
            "a 404 with another code",
            error(404, "no_such_call"),
            "NotFound",
            "no_such_call (404): Why.",
        ),
        row(
            "a 404 of a proxy",
            answer(404, "content-type: text/html\r\n", "<h1>Not Found</h1>"),
            "NotFound",
            r#"the service answered 404 and no documented error (is the base URL right?): "<h1>Not Found</h1>""#,
        ),
        row(
            "a 404 without a body",
            answer(404, "", ""),
            "NotFound",
            "the service answered 404 without a body (is the base URL right?)",
        ),
        row(
            "a wrong key",
            error(401, "invalid_api_key"),
            "Unauthorized",
            "invalid_api_key (401): Why.",
        ),
        row(
            "a 401 that repeats the key",
            answer(401, "", KEY),
            "Unauthorized",
            r#"the service answered 401 and no documented error: "(the API key)""#,
        ),
        row("a plan", error(403, "plan_required"), "Forbidden", "plan_required (403): Why."),
        row(
            "a 403 of a firewall",
            answer(403, "", "<h1>Blocked</h1>"),
            "Forbidden",
            r#"the service answered 403 and no documented error: "<h1>Blocked</h1>""#,
        ),
        row(
            "a 403 without end",
            flood("403 Forbidden"),
            "Forbidden",
            format!("the service answered 403 and no documented error: {:?}", " ".repeat(200)),
        ),
        row(
            "too many requests",
            error(429, "rate_limit_exceeded"),
            "RateLimited",
            "rate_limit_exceeded (429): Why.",
        ),
        row(
            "a 429 of a proxy",
            answer(429, "", ""),
            "RateLimited",
            "the service answered 429 without a body",
        ),
        row("an internal error", error(500, "internal"), "Unavailable", "internal (500): Why."),
        row(
            "a proxy without a service",
            answer(502, "", "<h1>Bad Gateway</h1>"),
            "Unavailable",
            r#"the service answered 502 and no documented error: "<h1>Bad Gateway</h1>""#,
        ),
        row(
            "a 503 whose body breaks off",
            torn(503),
            "Unavailable",
            r#"the service answered 503 and no documented error: "{\"job_id\":""#,
        ),
        row("a 408", answer(408, "", ""), "Unavailable", "the service answered 408 without a body"),
        row(
            "another documented error",
            error(400, "invalid_request"),
            "Refused",
            "invalid_request (400): Why.",
        ),
        row(
            "a redirect",
            answer(302, "location: /elsewhere\r\n", "moved"),
            "Redirect",
            "the service answered 302, a redirect, which is not followed: is the base URL right?",
        ),
        row(
            "an unknown status",
            answer(418, "", "I'm a teapot"),
            "UnknownStatus",
            r#"the service answered 418 and no documented error (a status that is not documented): "I'm a teapot""#,
        ),
        row(
            "a status over 599",
            answer(799, "", ""),
            "UnknownStatus",
            "the service answered 799 without a body (a status that is not documented)",
        ),
        row(
            "another job",
            json(200, &COMPLETE.replace("job_1", "job_2")),
            "OtherJob",
            "the answer is about another job",
        ),
        row(
            "another job that is not complete",
            json(200, r#"{"job_id":"job_2","status":"queued"}"#),
            "OtherJob",
            "the answer is about another job",
        ),
        row(
            "a job id that is a number",
            json(200, &COMPLETE.replace("\"job_1\"", "17")),
            "InvalidJobId",
            "the answer has a job_id of the wrong shape",
        ),
        row(
            "a job id that is a list",
            json(200, &COMPLETE.replace("\"job_1\"", "[1]")),
            "InvalidJobId",
            "the answer has a job_id of the wrong shape",
        ),
        row(
            "a job id with a space",
            json(200, &COMPLETE.replace("\"job_1\"", "\"a b\"")),
            "InvalidJobId",
            "the answer has a job_id of the wrong shape",
        ),
        row(
            "a result without a title",
            json(200, &COMPLETE.replace("\"title\"", "\"name\"")),
            "Undecodable(article.title: expected a string, found nothing)",
            "the answer is no article result: article.title: expected a string, found nothing",
        ),
        row(
            "a result without a job id",
            json(200, &COMPLETE.replace("\"job_id\"", "\"id\"")),
            "Undecodable(job_id: expected a job id, found nothing)",
            "the answer is no article result: job_id: expected a job id, found nothing",
        ),
        row(
            "a page of a proxy",
            answer(
                200,
                "content-type: text/html\r\n",
                "\r\n <!doctype html><title>Sign in</title>",
            ),
            "Page",
            "the answer is a page, not JSON: is the base URL right, or does a proxy answer?",
        ),
        row(
            "half a result",
            json(200, &COMPLETE[..50]),
            "NotJson",
            "the answer is not one JSON object",
        ),
        row(
            "a job id that only a repair would make one",
            json(200, &COMPLETE.replace("job_1", "job_1\u{7}")),
            "NotJson",
            "the answer is not one JSON object",
        ),
        row("no body", answer(204, "", ""), "NotJson", "the answer is not one JSON object"),
        row(
            "a body without end",
            flood("200 OK"),
            "TooLarge { limit: 16777216 }",
            "the answer is over the limit of 16777216 bytes: is the base URL right, or ClientBuilder::body_limit too low?",
        ),
        row(
            "more than a MiB without an article",
            json(200, &late),
            "TooLarge { limit: 1048576 }",
            "the answer is over the limit of 1048576 bytes: is the base URL right, or ClientBuilder::body_limit too low?",
        ),
    ]
}

/// The body that a line sends.
fn sent(line: &Line) -> Vec<u8> {
    match line {
        Line::Say(bytes) => {
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
            bytes[end..].to_vec()
        }
        Line::Hang(_) => panic!("it sends nothing"),
        Line::Flood(_, more) => more.iter().copied().cycle().take(1 << 20).collect(),
    }
}

#[tokio::test]
async fn each_response_to_a_question_has_its_outcome_its_message_and_its_bytes() {
    let asked: JobId = "job_1".parse().unwrap();
    for Row { what, line, outcome, message } in to_a_question() {
        let service = Service::start([line.clone()]);
        let response = service.client().article_once(&asked).await.unwrap();
        let found = format!("{:?}", response.outcome);
        assert_eq!(found, outcome, "{what}");
        let text = response.to_string();
        assert_eq!(text, message, "{what}");
        let mut body = sent(&line);
        body.truncate(1 << 20);
        assert!(response.body == body, "{what}: {} of {} bytes", response.body.len(), body.len());
        assert_eq!(service.count(), 1, "{what} was asked for again");
        let shown = format!("{response:?} {response}");
        assert!(!shown.contains(KEY), "{shown}");

        // A repeated call says the same.
        match service.client().article(&asked).await {
            Ok(job) => {
                assert!(
                    matches!(
                        response.outcome,
                        CallOutcome::Unfinished { .. } | CallOutcome::Draft { .. }
                    ),
                    "{what}: {job:?}"
                );
            }
            Err(error) => {
                assert_eq!(error.to_string(), text, "{what}");
                assert_eq!(error.status(), Some(response.status), "{what}");
                assert!(error.response().unwrap().body == response.body, "{what}");
                let asked_again = service.count() > 2;
                assert_eq!(error.is_transient(), asked_again, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn the_response_about_a_complete_job_has_the_bytes_of_its_delivery() {
    let service = Service::start([json(200, COMPLETE)]);
    let response = service.client().article_once(&"job_1".parse().unwrap()).await.unwrap();
    let CallOutcome::Complete(result) = &response.outcome else { panic!("{response:?}") };
    assert_eq!(result.article.title, "Shoes");
    assert_eq!(response.status, 200);
    assert_eq!(response.body, COMPLETE);
    assert_eq!(response.to_string(), "the job is complete");
}

#[tokio::test]
async fn a_synonym_of_complete_with_an_article_is_complete() {
    for status in ["completed", "Complete", "success", "succeeded", "DONE"] {
        let body = COMPLETE.replace("complete", status);
        let service = Service::start([json(200, &body)]);
        let response = service.client().article_once(&"job_1".parse().unwrap()).await.unwrap();
        assert!(matches!(response.outcome, CallOutcome::Complete(_)), "{response:?}");
        assert!(response.unconfirmed().is_none() && response.body == body);
    }
}

#[tokio::test]
async fn a_large_draft_is_whole() {
    let title = format!("Shoes{}", " ".repeat(1 << 20));
    let body = COMPLETE.replace("Shoes", &title).replace("complete", "writing");
    let service = Service::start([json(200, &body)]);
    let response = service.client().article_once(&"job_1".parse().unwrap()).await.unwrap();
    assert!(matches!(response.outcome, CallOutcome::Draft { .. }), "{response:?}");
    assert!(response.unconfirmed() == Some(body.as_bytes()));
}

#[tokio::test]
async fn an_order_whose_answer_must_be_repaired_has_its_job() {
    let service = Service::start([json(202, r#"{"job_id":"job_1","topic":"Run \ud83c"}"#)]);
    let created = service.client().create_article_once(&NewArticle::new("Run")).await.unwrap();
    assert_eq!(created.job_id.as_str(), "job_1");
}

#[tokio::test]
async fn a_response_that_must_be_repaired_is_read_as_its_delivery_would_be() {
    for (fault, title) in [
        (["\u{feff}", COMPLETE].concat(), "Shoes"),
        (COMPLETE.replace("Shoes", "Sho\tes"), "Sho\tes"),
        (COMPLETE.replace("Shoes", r"Sho\ud83c"), "Sho\u{fffd}"),
    ] {
        let service = Service::start([json(200, &fault)]);
        let response = service.client().article_once(&"job_1".parse().unwrap()).await.unwrap();
        let CallOutcome::Complete(result) = &response.outcome else { panic!("{response:?}") };
        assert_eq!((&*result.article.title, response.names_the_job()), (title, true));
        assert_eq!(response.body, fault.as_bytes(), "the bytes stay as they came");
    }
}

/// What may come after an order: whether the service may have taken it, and the message.
#[tokio::test]
async fn each_response_to_an_order_says_whether_it_may_have_been_taken() {
    let no_id = "the answer has no valid job_id";
    for (line, is_unknown, message) in [
        (error(402, "credits_exhausted"), false, "credits_exhausted (402): Why."),
        (error(429, "rate_limit_exceeded"), false, "rate_limit_exceeded (429): Why."),
        (error(500, "generation_failed"), false, "generation_failed (500): Why."),
        (error(503, "generation_failed"), true, "generation_failed (503): Why."),
        (error(500, "internal"), true, "internal (500): Why."),
        (answer(504, "", ""), true, "the service answered 504 without a body"),
        (
            answer(799, "", ""),
            true,
            "the service answered 799 without a body (a status that is not documented)",
        ),
        (
            answer(307, "location: /\r\n", ""),
            false,
            "the service answered 307, a redirect, which is not followed: is the base URL right?",
        ),
        (json(200, r#"{"job_id":".."}"#), true, no_id),
        (json(200, "{}"), true, no_id),
        (
            answer(200, "", "<h1>Welcome</h1>"),
            true,
            "the answer is a page, not JSON: is the base URL right, or does a proxy answer?",
        ),
        (answer(201, "", "created"), true, "the answer is not one JSON object"),
        (
            flood("200 OK"),
            true,
            "the answer is over the limit of 1048576 bytes: is the base URL right, or ClientBuilder::body_limit too low?",
        ),
    ] {
        let service = Service::start([line.clone()]);
        let order = NewArticle::new("Shoes");
        let error = service.client().create_article_once(&order).await.unwrap_err();
        let unknown = "the request may have been carried out, do not repeat it blindly: ";
        let message = format!("{}{message}", if is_unknown { unknown } else { "" });
        assert_eq!((error.to_string(), error.is_outcome_unknown()), (message, is_unknown));
        assert!(error.response().unwrap().body == sent(&line), "{error}");
        assert_eq!(service.count(), 1, "{error}");
    }
}
