//! What an application gets from `listen --forward-to`, on the wire.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Stdio,
};

use article_webhook::fixture;
use serde_json::Value;

use crate::{
    running::Running,
    tool::{seen, text, tool},
};

const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

/// The headers and the body of a request, which is answered.
fn request(stream: TcpStream) -> (BTreeMap<String, String>, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    reader.read_line(&mut String::new()).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let other = headers.insert(name.to_ascii_lowercase(), value.to_owned());
        assert_eq!(other, None, "{name} comes once");
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    reader.into_inner().write_all(answer.as_bytes()).unwrap();
    (headers, body)
}

#[test]
fn an_application_gets_the_headers_of_the_service_and_no_others_of_the_sender() {
    gets("X-Service-Event", "X-Service-Job-Id", &[]);
}

#[test]
fn the_headers_have_the_names_that_are_given_also_for_the_application() {
    gets(
        "X-Acme-Event",
        "X-Acme-Job",
        &["--event-header", "X-Acme-Event", "--job-id-header", "X-Acme-Job"],
    );
}

#[test]
fn a_header_with_two_meanings_is_refused_before_an_inbox_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let mut listen = tool(["listen", "--port", "0", "--inbox", text(&file), "--event-header"]);
    let listen = listen.arg("X-Service-Job-Id").env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    let (exit, _, error) = seen(&listen.output().unwrap());
    assert_eq!(exit, Some(2), "{error}");
    assert!(
        error.contains("\nfix:   give the event and the job id a header of their own each\n"),
        "{error}"
    );
    assert!(!file.exists());
}

/// What an application gets of a delivery whose event and job id are in these headers.
fn gets(event: &str, job_id: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let application = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = application.local_addr().unwrap();
    let to = format!("http://{address}/hooks?a=b");
    let mut listen = tool(["listen", "--port", "0", "--no-page", "--json", "--forward-to", &to]);
    let listen =
        listen.args(["--inbox", text(&file)]).args(options).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    let listen = listen.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut listening = Running(listen.spawn().unwrap());
    let mut lines = BufReader::new(listening.0.stdout.take().unwrap()).lines();
    let started: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let url = started["listening"].as_str().unwrap();
    let receiver = url.strip_prefix("http://").unwrap().split('/').next().unwrap();

    let sent = fixture::complete().job_id("job_é").token(TOKEN);
    let mut head = format!("POST /webhooks/articles HTTP/1.1\r\nHost: {receiver}\r\n").into_bytes();
    for (name, value) in sent.headers() {
        let name = match &**name {
            "X-Service-Event" => event,
            "X-Service-Job-Id" => job_id,
            other => other,
        };
        head.extend_from_slice(format!("{name}: ").as_bytes());
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    }
    // What the inbox does not keep.
    head.extend_from_slice(b"X-Request-Id: 1\r\nCookie: a=b\r\nConnection: close\r\n\r\n");
    let mut service = TcpStream::connect(receiver).unwrap();
    service.write_all(&[&head, &sent.bytes()[..]].concat()).unwrap();
    let mut answer = String::new();
    service.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");

    let (headers, body) = request(application.accept().unwrap().0);
    assert_eq!(body, sent.bytes()[..]);
    let found: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (host, length) = (address.to_string(), body.len().to_string());
    assert_eq!(
        found,
        [
            ("accept", "*/*"),
            ("authorization", TOKEN),
            ("content-length", &length),
            ("content-type", "application/json"),
            ("host", &host),
            (&*event.to_ascii_lowercase(), "article.complete"),
            (&*job_id.to_ascii_lowercase(), "job_é"),
        ]
    );
}
