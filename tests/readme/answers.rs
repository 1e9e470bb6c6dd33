//! The guide's table of answers is the code's.

use std::collections::BTreeSet;

use article_webhook::{
    Answer, ArticleResult, InvalidJobId, Rejection, Reply, ServiceHeader, adapter, fixture,
};

const README: &str = include_str!("../../README.md");
const FLOW: &str = include_str!("../../crates/article-webhook/src/guide/flow.md");

/// The status and code of each row of the table of answers; an empty code where there is none.
fn rows() -> Vec<(String, String)> {
    let table = FLOW.split("\n# Answers\n").nth(1).expect("the page has a table of answers");
    let table = table.split("\n# ").next().expect("a split has a first part");
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        // Headers of the answer, and what adapters make of it, stand behind the status.
        let status = cells[2].split([',', ':']).next().unwrap_or_default();
        (status.to_owned(), cells[3].trim_matches('`').to_owned())
    })
    .collect()
}

/// Every cause. The compiler does not ask for new ones here, because the enum may grow.
fn rejections() -> Vec<Rejection> {
    let malformed = fixture::DeliveryRequest::new("{").delivery().expect_err("it has no end");
    let too_large = fixture::DeliveryRequest::new(" ".repeat((8 << 20) + 1)).delivery();
    let too_large = too_large.expect_err("it is over the limit");
    let undecodable = ArticleResult::from_json(b"{}").expect_err("an empty object is no result");
    vec![
        Rejection::MethodNotPost,
        Rejection::AuthorizationMissing,
        Rejection::AuthorizationRepeated,
        Rejection::AuthorizationWrong,
        Rejection::CapabilityWrong,
        Rejection::CapabilityExpired,
        Rejection::ContentTypeMissing,
        Rejection::ContentTypeRepeated,
        Rejection::ContentTypeWrong,
        Rejection::ContentTypeCharset,
        Rejection::ContentEncoding,
        Rejection::HeaderRepeated(ServiceHeader::Event),
        Rejection::HeaderMissing(ServiceHeader::JobId),
        Rejection::EventInvalid,
        Rejection::Framing,
        too_large.rejection().clone(),
        Rejection::LimitedByLayer,
        Rejection::AlreadyRead,
        Rejection::Incomplete,
        Rejection::Timeout,
        Rejection::Overloaded,
        Rejection::Empty,
        malformed.rejection().clone(),
        Rejection::JobIdMissing,
        Rejection::HeaderJobIdInvalid(InvalidJobId::TooLong),
        Rejection::BodyJobIdInvalid(InvalidJobId::TooLong),
        Rejection::JobIdMismatch,
        Rejection::EventIgnored,
        Rejection::EventUnknown,
        Rejection::Undecodable(undecodable),
    ]
}

/// The status and code of everything the code can answer.
fn answers() -> BTreeSet<(String, String)> {
    let refused = rejections().into_iter().map(|rejection| (rejection.status(), rejection.code()));
    let failed = [
        adapter::misconfigured_answer("", r#"{"error":"internal"}"#),
        adapter::RetryReason::of("busy").answer(),
    ];
    let replies =
        [Reply::Stored, Reply::Duplicate, Reply::Ignored, Reply::Retry, Reply::Unavailable];
    let replied = replies.map(Answer::from).into_iter().chain(failed);
    let replied = replied.map(|answer| {
        let body: serde_json::Value = serde_json::from_str(answer.body()).expect("bodies are JSON");
        let code = body["error"].as_str().unwrap_or_default().to_owned();
        (answer.status().as_u16().to_string(), code)
    });
    let refused = refused.map(|(status, code)| {
        // A status of 200 carries no error.
        let code = if status.is_success() { "" } else { code };
        (status.as_u16().to_string(), code.to_owned())
    });
    refused.chain(replied).collect()
}

#[test]
fn the_table_has_every_answer_of_the_code_and_no_other() {
    let mut rows: BTreeSet<_> = rows().into_iter().collect();
    // A sink may choose the status of a success.
    rows.retain(|(status, _)| status != "2xx");
    assert_eq!(rows, answers());
}

/// The fixture named in the README's `curl` command has the job id that the command sends.
#[test]
fn the_curl_command_delivers_the_fixture() {
    let header = "-H 'X-Service-Job-Id: job_7c1e4a52'";
    assert!(README.contains("/tests/fixtures/complete.json") && README.contains(header));
    let result =
        ArticleResult::from_json(fixture::complete().bytes()).expect("the fixture decodes");
    assert_eq!(result.job_id.as_str(), "job_7c1e4a52");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/complete.json");
    assert_eq!(
        std::fs::read(file).expect("the fixture is a file"),
        &fixture::complete().bytes()[..]
    );
}
