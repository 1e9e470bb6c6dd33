//! For any job id, base URL and response: each request goes to one path, with the key in one header.

use std::{
    sync::LazyLock,
    time::{Duration, SystemTime},
};

use article_webhook_client::{
    ApiKey, CallOutcome, Client, Created, JobId, NewArticle, RawResponse, Response, StatusCode,
};
use percent_encoding::percent_decode_str;
use proptest::{collection::vec, prelude::*};
use tokio::runtime::Runtime;

use crate::{
    reads::COMPLETE,
    service::{KEY, Line, Service, json},
};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("there are threads"));

/// The target of every redirect. It must not get a request.
static TRAP: LazyLock<Service> = LazyLock::new(|| Service::start([json(200, "{}")]));

fn job_ids() -> impl Strategy<Value = JobId> {
    let hostile = "[./%\\\\?#:@&;=+a-z0-9\u{e9}\u{202e}\"<>{}|^`~*'(),!$\\[\\]-]{1,40}";
    prop_oneof![hostile, "(\\.\\./){1,5}v1/config/brand", "%2e%2e(%2f|/)[a-z]{1,5}", "\\PC{1,60}"]
        .prop_filter_map("it is a job id", |id| id.parse().ok())
}

fn base_paths() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "(/[a-zA-Z0-9._~%-]{0,8}){1,4}",
        "/[/.\\\\%a-z0-9 \u{e9}]{0,20}",
        Just("/api/../..//".to_owned()),
    ]
}

fn answers() -> impl Strategy<Value = Line> {
    let place = format!("http://{}/", TRAP.address);
    let pieces = prop_oneof![
        Just("HTTP/1.1 200 OK\r\n".to_owned()),
        Just("HTTP/1.1 302 Found\r\n".to_owned()),
        Just("HTTP/1.1 401 No\r\n".to_owned()),
        Just(format!("location: {place}\r\n")),
        Just(format!("refresh: 0; url={place}\r\n")),
        Just(format!("set-cookie: a={KEY}\r\n")),
        Just("content-length: 10\r\n".to_owned()),
        Just("transfer-encoding: chunked\r\n".to_owned()),
        Just("retry-after: 0\r\n".to_owned()),
        Just("\r\n".to_owned()),
        Just(
            r#"{"job_id":"job_1","status":"complete","article":{"title":"","html":""}}"#.to_owned()
        ),
        Just(r#"{"error":"job_not_found","message":7}"#.to_owned()),
        Just("[".repeat(10_000)),
        "\\PC{0,20}",
    ];
    let written = vec(pieces, 0..8).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![written, vec(any::<u8>(), 0..200)].prop_map(|start| {
        // A valid head most of the time, to reach the code after it.
        if start.first().is_some_and(|first| first % 3 == 0) {
            return Line::Say(start);
        }
        Line::Say([&b"HTTP/1.1 200 OK\r\nconnection: close\r\n"[..], &start].concat())
    })
}

/// Headers and a body, some of which mean something.
fn responses() -> impl Strategy<Value = (Vec<(String, String)>, String)> {
    let name = prop_oneof![Just("retry-after".to_owned()), Just("Date".to_owned()), "[a-z-]{1,9}"];
    let date = any::<u32>().prop_map(|seconds| {
        let seconds = Duration::from_secs(u64::from(seconds) * 50);
        httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + seconds)
    });
    let value = prop_oneof![date, "[0-9]{0,30}", "\\PC{0,20}"];
    let named =
        |code| format!(r#"{{"error":"{code}","message":"{KEY}","details":{{"step":"{KEY}"}}}}"#);
    let body = prop_oneof![
        Just(COMPLETE.to_owned()),
        Just(COMPLETE.replace("job_1", "job_2")),
        Just(COMPLETE.replace("\"complete\"", &format!("\"{KEY}\""))),
        Just(named("generation_failed")),
        Just(named("job_not_found")),
        Just(named(KEY)),
        Just(KEY.to_owned()),
        "[<{\\[]\\PC{0,40}",
    ];
    (vec((name, value), 0..4), body)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_question_goes_to_its_own_path_and_nowhere_else(
        id in job_ids(), base in base_paths(), answer in answers(),
    ) {
        let service = Service::start([answer]);
        let Ok(client) = service.builder(&base).timeout(Duration::from_millis(300)).build() else {
            return Ok(()); // the base URL was refused
        };
        let shown = format!("{:?}", RUNTIME.block_on(client.article(&id)));
        prop_assert!(!shown.contains(KEY), "{}", shown);

        let requests = service.requests();
        prop_assert!((1..=4).contains(&requests.len()));
        for request in requests {
            let mut words = request.first_line.split(' ');
            prop_assert_eq!(words.next(), Some("GET"));
            let path = words.next().unwrap_or_default();
            prop_assert_eq!((words.next(), words.next()), (Some("HTTP/1.1"), None));

            // As a server reads it: segments first, escapes second.
            let (prefix, segment) = path.rsplit_once('/').unwrap_or_default();
            let decoded = percent_decode_str(segment).decode_utf8().expect("it is UTF-8");
            prop_assert_eq!(decoded, id.as_str());
            prop_assert!(prefix.ends_with("/v1/content/articles"), "{}", path);
            prop_assert!(!path.contains(['?', '#', '\\', ' ']), "{}", path);
            prop_assert!(path.split('/').all(|part| !matches!(part, "." | "..")), "{}", path);

            let head = request.head.to_ascii_lowercase();
            prop_assert_eq!(head.matches(KEY).count(), 1);
            let (address, key) = (service.address, KEY);
            let host = format!("\r\nhost: {address}");
            let authorization = format!("\r\nauthorization: bearer {key}");
            prop_assert!(head.contains(&host) && head.contains(&authorization), "{}", head);
        }
        prop_assert_eq!(TRAP.count(), 0);
    }

    #[test]
    fn any_response_has_an_outcome_that_its_status_allows_and_shows_no_key(
        status in prop_oneof![Just(200), Just(404), Just(500), 100..1000_u16],
        (headers, body) in responses(),
    ) {
        let (key, asked) = (ApiKey::new(KEY).expect("it is a key"), "job_1".parse().expect("it is an id"));
        let raw = RawResponse::new(StatusCode::from_u16(status).expect("it has three digits"), &headers, body.clone(), SystemTime::now());
        let created = Created::classify(&key, &NewArticle::new("Shoes"), Ok(raw.clone()));
        let response = Response::classify(&key, &asked, raw.clone());
        let shown = format!("{response} {response:?} {raw:?} {created:?}");
        prop_assert!(!shown.contains(KEY), "{}", shown);
        prop_assert!(response.body == body, "{}", shown);
        prop_assert_eq!(response.retry_after, raw.retry_after());
        let allowed = match response.outcome {
            CallOutcome::Complete(_) => (200..300).contains(&status) && body == COMPLETE,
            CallOutcome::Unfinished { .. } => (200..300).contains(&status),
            CallOutcome::Failed { .. } => status == 500,
            CallOutcome::JobNotFound => status == 404,
            _ => true,
        };
        prop_assert!(allowed, "{}", shown);
        // What is certainly not taken was refused with a status that says so.
        let refused = matches!(status, 301 | 307 | 308 | 400..=407 | 409..500);
        if let Err(error) = created {
            let failed = status == 500 && matches!(response.outcome, CallOutcome::Failed { .. });
            prop_assert_eq!(error.is_outcome_unknown(), !refused && !failed, "{}", shown);
        } else {
            prop_assert!((200..300).contains(&status), "{}", shown);
        }
    }

    #[test]
    fn a_base_url_is_valid_or_refused(text in "\\PC{0,60}", scheme in "(https?|ftp|file|data)?:?/{0,3}") {
        let key = ApiKey::new(KEY).expect("it is a key");
        for url in [text.clone(), [&*scheme, &text].concat()] {
            match Client::new(key.clone(), &url) {
                Ok(client) => prop_assert!(format!("{client:?}").contains("https")
                    || url.contains("localhost") || url.contains("127.") || url.contains("::1"), "{}", url),
                Err(error) => prop_assert!(!error.to_string().is_empty() && !error.is_transient()),
            }
        }
    }
}
