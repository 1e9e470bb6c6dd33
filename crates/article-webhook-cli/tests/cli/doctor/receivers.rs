use std::{
    net::{SocketAddr, TcpStream},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use article_webhook_inbox::Inbox;
use article_webhook_server::Server;
use article_webhook_tower::{AuthToken, Receiver, receive};

use super::{
    TOKEN, doctor, found,
    server::{answer, read, refusal, serve, serve_connections, stripping},
};
use crate::{
    free_port::free_port,
    tool::{seen, tool},
};

/// A receiver of this project, and its inbox.
async fn receiver(receiver: Receiver) -> (SocketAddr, Inbox) {
    let server = Server::bind("127.0.0.1:0").await.unwrap();
    let (address, inbox) = (server.local_addr().unwrap(), Inbox::memory());
    tokio::spawn(server.serve(receive(receiver, inbox.clone()), std::future::pending()));
    (address, inbox)
}

fn token() -> AuthToken {
    AuthToken::new(TOKEN).unwrap()
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}/webhooks/articles")
}

/// Nothing was delivered, and no job is expected because of a refusal.
async fn is_untouched(inbox: &Inbox) {
    assert_eq!(inbox.counts().await.unwrap().total(), 0);
    let health = inbox.health().await;
    assert_eq!((health.ledger.unwrap().counts.open(), health.expected_held), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_receiver_passes_and_gets_no_article() {
    let (address, inbox) = receiver(Receiver::new(token())).await;
    let found = found(&mut doctor(&["--url", &url(address)]));
    for code in [
        "receiver.loopback",
        "receiver.refuses_wrong_token",
        "receiver.token_arrives",
        "receiver.job_id_arrives",
        "receiver.event_arrives",
        "receiver.body_limit",
        "receiver.quick",
        "clock.agrees",
    ] {
        found.has(code, "ok");
    }
    is_untouched(&inbox).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_a_proxy_strips_are_found_and_nothing_is_delivered_through_it() {
    let (address, inbox) = receiver(Receiver::new(token())).await;
    let run = |names| found(&mut doctor(&["--url", &stripping(address, names)]));
    run(&["authorization"]).has("receiver.token_refused", "fail");
    let job_id = run(&["x-service-job-id"]);
    job_id.has("receiver.job_id_stripped", "warn");
    let event = run(&["x-service-event"]);
    event.has("receiver.event_stripped", "warn");
    event.has("receiver.job_id_arrives", "ok");
    let both = run(&["x-service-event", "x-service-job-id"]);
    both.has("receiver.job_id_stripped", "warn");
    both.has("receiver.event_stripped", "warn");
    is_untouched(&inbox).await;

    let strict = Receiver::builder(token()).strict().build().unwrap();
    let (address, inbox) = receiver(strict).await;
    let run = |names| found(&mut doctor(&["--url", &stripping(address, names)]));
    let sound = run(&[]);
    sound.has("receiver.job_id_arrives", "ok");
    sound.has("receiver.event_arrives", "ok");
    sound.has("receiver.body_limit", "not_checked");
    run(&["x-service-job-id"]).has("receiver.job_id_stripped", "fail");
    run(&["x-service-event"]).has("receiver.event_stripped", "warn");
    is_untouched(&inbox).await;

    let named = Receiver::builder(token()).job_id_header("X-Acme-Job").build().unwrap();
    let (address, _) = receiver(named).await;
    let url = url(address);
    found(&mut doctor(&["--url", &url])).has("receiver.job_id_stripped", "warn");
    let named = ["--url", &url, "--job-id-header", "X-Acme-Job"];
    found(&mut doctor(&named)).has("receiver.job_id_arrives", "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_bodies_below_8_mib_is_found_with_its_owner() {
    let small = Receiver::builder(token()).body_limit(1 << 20).build().unwrap();
    let (address, inbox) = receiver(small).await;
    let ours = found(&mut doctor(&["--url", &url(address)]));
    ours.has("receiver.body_limit", "fail");
    assert!(ours.out.contains("the receiver refuses a body of 8 MiB"), "{}", ours.out);
    is_untouched(&inbox).await;

    let proxy = serve(|request| match request.body.len() {
        ..1000 if !request.has(TOKEN) => refusal("401 Unauthorized", "unauthorized"),
        ..1000 if request.has("no event") => refusal("400 Bad Request", "bad_request"),
        ..1000 => refusal("400 Bad Request", "invalid_job_id"),
        _ => answer("413 Payload Too Large", "Content-Type: text/html\r\n", "<h1>too large</h1>"),
    });
    let proxy = found(&mut doctor(&["--url", &proxy]));
    proxy.has("receiver.body_limit", "fail");
    assert!(proxy.out.contains("client_max_body_size"), "{}", proxy.out);

    for status in ["408 Request Timeout", "500 Internal Server Error", "502 Bad Gateway"] {
        let other = serve(move |request| match request.body.len() {
            ..1000 if !request.has(TOKEN) => refusal("401 Unauthorized", "unauthorized"),
            ..1000 if request.has("no event") => refusal("400 Bad Request", "bad_request"),
            ..1000 => refusal("400 Bad Request", "invalid_job_id"),
            _ => answer(status, "", ""),
        });
        let other = found(&mut doctor(&["--url", &other]));
        other.has("receiver.body_limit", "warn");
        let says = format!("a body of 8 MiB gets {status}");
        assert!(other.out.contains(&says), "{}", other.out);
    }

    // It reads the head of a large body, and ends the connection.
    let cut = serve_connections("127.0.0.1", |mut stream| {
        use std::io::{Read, Write};

        let mut head = vec![0; 2000];
        let length = stream.read(&mut head).unwrap();
        let head = String::from_utf8_lossy(&head[..length]).into_owned();
        let code = if head.contains("no event") { "bad_request" } else { "invalid_job_id" };
        let answer = match head.contains(TOKEN) {
            false => refusal("401 Unauthorized", "unauthorized"),
            true => refusal("400 Bad Request", code),
        };
        if head.contains("..") || !head.contains(TOKEN) {
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    found(&mut doctor(&["--url", &url(cut)])).has("receiver.body_cut", "warn");
}

#[test]
fn what_is_no_receiver_is_found() {
    const HTML: &str = "Content-Type: text/html\r\n";
    for (status, headers, body, code, severity) in [
        ("200 OK", "", "", "receiver.accepts_wrong_token", "fail"),
        ("301 Moved", "Location: /a\r\n", "", "receiver.redirects", "fail"),
        ("404 Not Found", HTML, "<h1>no</h1>", "receiver.not_found", "fail"),
        ("405 No Method", "", "", "receiver.no_post", "fail"),
        ("502 Bad Gateway", HTML, "<h1>nginx</h1>", "receiver.page", "fail"),
        ("403 Forbidden", HTML, "<h1>firewall</h1>", "receiver.page", "fail"),
        ("500 Error", "", "{\"error\":\"internal\"}", "receiver.fails", "fail"),
        ("400 Bad Request", "", "", "receiver.token_checked_late", "warn"),
        ("600 No Such Status", "", "", "receiver.unexpected", "warn"),
    ] {
        let url = serve(move |_| answer(status, headers, body));
        let found = found(&mut doctor(&["--url", &url]));
        found.has(code, severity);
        let accepts = "\"receiver.token_arrives\",\"severity\":\"ok\"";
        assert!(!found.out.contains(accepts), "{}", found.out);
    }
}

#[test]
fn a_receiver_that_accepts_what_is_broken_or_has_no_codes_is_found() {
    let url = serve(|request| match request.has(TOKEN) {
        false => answer("401 Unauthorized", "", ""),
        true => answer("204 No Content", "", ""),
    });
    found(&mut doctor(&["--url", &url])).has("receiver.accepts_broken", "fail");
    let url = serve(|request| match request.has(TOKEN) {
        false => answer("401 Unauthorized", "", ""),
        true => answer("400 Bad Request", "", "no"),
    });
    found(&mut doctor(&["--url", &url])).has("receiver.headers", "not_checked");
    found(doctor(&["--url", &url]).env("ARTICLE_WEBHOOK_TOKEN", ""))
        .has("receiver.headers", "not_checked");
    let url = serve(|_| refusal("401 Unauthorized", "unauthorized"));
    found(&mut doctor(&["--url", &url])).has("receiver.token_refused", "fail");
}

#[test]
fn a_receiver_that_is_not_reached_is_found_with_the_reason() {
    let closed = free_port();
    found(&mut doctor(&["--url", &url(closed)])).has("receiver.refused", "fail");
    let host = "https://nothing.invalid/";
    found(&mut doctor(&["--url", host])).has("receiver.unknown_host", "fail");
    let broken = serve_connections("127.0.0.1", |mut stream| drop(read(&mut stream)));
    found(&mut doctor(&["--url", &url(broken)])).has("receiver.broken", "fail");
    let silent = serve_connections("127.0.0.1", |mut stream| {
        read(&mut stream);
        thread::sleep(Duration::from_secs(60));
    });
    found(&mut doctor(&["--url", &url(silent)])).has("receiver.timeout", "fail");
}

#[test]
fn a_machine_without_certificates_is_found_whose_client_asks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let without = |tool: &mut Command| {
        tool.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", folder.path());
        tool.env("ARTICLE_API_KEY", "sk-1").env("ARTICLE_API_URL", "http://127.0.0.1:9");
    };
    let mut doctor = doctor(&["--url", "http://127.0.0.1:9/"]);
    without(&mut doctor);
    let found = found(&mut doctor);
    found.has("receiver.not_asked", "fail");
    found.has("service.settings", "fail");
    assert_eq!(found.out.matches("ca-certificates").count(), 2, "{}", found.out);
    for command in [&["get", "job_1"][..], &["send", "http://127.0.0.1:9/"]] {
        let mut run = tool([]);
        without(run.args(command).env("ARTICLE_WEBHOOK_TOKEN", TOKEN));
        let (exit, _, error) = seen(&run.output().unwrap());
        assert_eq!(exit, Some(1), "{error}");
        assert!(error.contains("No CA certificates were loaded"), "{error}");
        assert!(error.contains("\nfix:   install the certificates"), "{error}");
    }
}

/// As with a firewall that drops packets: the system drops those of a connection for which a full queue has no room.
#[test]
fn a_connection_that_is_never_made_is_found() {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};

    let full = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&full, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&full, 0).unwrap();
    let address = SocketAddr::try_from(getsockname(&full).unwrap()).unwrap();
    let mut made = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        made.push(stream);
        assert!(made.len() < 100, "the queue is never full");
    }
    found(&mut doctor(&["--url", &url(address)])).has("receiver.no_connection", "fail");
}

#[test]
fn a_slow_receiver_is_found() {
    for (seconds, severity) in [(1, "warn"), (5, "fail")] {
        let url = serve(move |_| {
            thread::sleep(Duration::from_millis(seconds * 1000 + 100));
            refusal("401 Unauthorized", "unauthorized")
        });
        let slow = found(doctor(&["--url", &url]).env("ARTICLE_WEBHOOK_TOKEN", ""));
        slow.has("receiver.slow", severity);
    }
}

#[test]
fn the_token_is_not_sent_to_another_host_without_tls() {
    let tokens = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&tokens);
    let address = serve_connections("0.0.0.0", move |mut stream| {
        use std::io::Write;

        if let Some(request) = read(&mut stream) {
            seen.fetch_add(usize::from(request.has(TOKEN)), Ordering::Relaxed);
            let refusal = refusal("401 Unauthorized", "unauthorized");
            let _ = stream.write_all(refusal.as_bytes());
        }
    });
    // This address is not of the loopback, although it leads there.
    let found = found(&mut doctor(&["--url", &url(address)]));
    found.has("receiver.no_tls", "fail");
    found.has("receiver.refuses_wrong_token", "ok");
    found.has("receiver.headers", "not_checked");
    assert_eq!(tokens.load(Ordering::Relaxed), 0);
}
