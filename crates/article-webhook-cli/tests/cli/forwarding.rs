//! What an application gets from `listen --forward-to`, on the wire.

use std::{
    collections::BTreeMap,
    io::Write,
    net::{TcpListener, TcpStream},
    process::Stdio,
};

use article_webhook::fixture;

use crate::{
    listening::Listening,
    sample,
    server::{answer, post, read},
    tool::TOKEN,
};

/// The headers and the body of a request, which is answered.
fn request(mut stream: TcpStream) -> (BTreeMap<String, String>, Vec<u8>) {
    let request = read(&mut stream).unwrap();
    let mut headers = BTreeMap::new();
    for line in request.head.trim_end().lines().skip(1) {
        let (name, value) = line.split_once(": ").unwrap();
        let other = headers.insert(name.to_ascii_lowercase(), value.to_owned());
        assert_eq!(other, None, "{name} comes once");
    }
    stream.write_all(answer("204 No Content", "", "").as_bytes()).unwrap();
    (headers, request.body)
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

/// What an application gets of a delivery whose event and job id are in these headers.
fn gets(event: &str, job_id: &str, options: &[&str]) {
    let (_folder, file) = sample::place();
    let application = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = application.local_addr().unwrap();
    let to = format!("http://{address}/hooks?a=b:c@d");
    let options = [&["--no-page", "--forward-to", &to], options].concat();
    let listening = Listening::with(&file, &options, Stdio::null());
    let sent = fixture::complete().job_id("job_é").token(TOKEN);
    let headers = sent.headers().iter().map(|(name, value)| match &**name {
        "X-Service-Event" => (event, &value[..]),
        "X-Service-Job-Id" => (job_id, &value[..]),
        other => (other, &value[..]),
    });
    // What the inbox does not keep.
    let headers = headers.chain([("X-Request-Id", &b"1"[..]), ("Cookie", b"a=b")]);
    let answer = post(&listening.url, headers, sent.bytes());
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
