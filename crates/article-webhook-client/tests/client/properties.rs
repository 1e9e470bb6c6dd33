//! For any job id, base URL and response: each request goes to one path, with the key in one header.

use std::{sync::LazyLock, time::Duration};

use article_webhook_client::JobId;
use percent_encoding::percent_decode_str;
use proptest::{collection::vec, prelude::*};
use tokio::runtime::Runtime;

use crate::service::{KEY, Line, Service, json};

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
}
