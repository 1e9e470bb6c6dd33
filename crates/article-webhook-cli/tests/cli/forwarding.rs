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
fn an_application_gets_the_headers_of_the_service_with_their_names_here_and_no_others() {
    let odd = b"{ \"job_id\":\"job_\xc3\xa9\",\t\"note\":\"\\u00e9\" }\n";
    let article = fixture::complete().job_id("job_é");
    let of_service = ["X-Service-Event", "X-Service-Job-Id"];
    gets("article.complete", of_service, article.bytes(), &[]);
    let [event, job_id] = ["X-Acme-Event", "X-Acme-Job"];
    let options = ["--event-header", event, "--job-id-header", job_id];
    gets("article.retracted", [event, job_id], odd, &options);
}

/// An application gets a delivery whose event and job id are in these headers, and its body as it came.
fn gets(event: &str, names: [&str; 2], body: &[u8], options: &[&str]) {
    let (_folder, file) = sample::place();
    let application = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = application.local_addr().unwrap();
    let to = format!("http://{address}/hooks?a=b:c@d");
    let options = [&["--no-page", "--forward-to", &to], options].concat();
    let listening = Listening::with(&file, &options, Stdio::null());
    let (host, length) = (address.to_string(), body.len().to_string());
    let headers = [
        ("authorization", TOKEN),
        ("content-length", &length),
        ("content-type", "application/json"),
        (&names[0].to_ascii_lowercase(), event),
        (&names[1].to_ascii_lowercase(), "job_é"),
    ];
    // What the inbox does not keep.
    let others = [("x-request-id", "1"), ("cookie", "a=b")];
    let sent = headers.iter().chain(&others).map(|(name, value)| (*name, value.as_bytes()));
    let answer = post(&listening.url, sent, body);
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");

    let (found, passed_on) = request(application.accept().unwrap().0);
    assert_eq!(passed_on, body);
    let found = found.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let expected = headers.into_iter().chain([("accept", "*/*"), ("host", &host)]);
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected.collect());
}
