use std::{
    net::{SocketAddr, TcpStream},
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

use super::{Found, TOKEN, doctor, found, tls::Authority};
use crate::{
    server::{answer, read, refusal, serve, serve_connections, stripping},
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

/// What is found about a receiver of this project.
async fn sound() -> Found {
    let (address, _) = receiver(Receiver::new(token())).await;
    found(&mut doctor(&["--url", &url(address)]))
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

const TOKEN_REFUSED: &str = "compare the token with that of the receiver, whose log says whether `Authorization` was missing or wrong; \
    let the proxy pass it on";

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_a_proxy_strips_are_found_and_nothing_is_delivered_through_it() {
    let (address, inbox) = receiver(Receiver::new(token())).await;
    let run = |names| found(&mut doctor(&["--url", &stripping(address, names)]));
    let (all, pass_on) = (
        run(&[]),
        "let the proxy pass on all headers that begin with X-Service-; if the receiver has another name, give ",
    );
    let sound =
        "loopback refuses_wrong_token token_arrives job_id_arrives event_arrives body_limit quick";
    for code in sound.split(' ') {
        all.has(&format!("receiver.{code}"), "ok");
    }
    run(&["authorization"]).is_cured("receiver.token_refused", "fail", TOKEN_REFUSED, &all);
    let job_id = run(&["x-service-job-id"]);
    job_id.is_cured("receiver.job_id_stripped", "warn", &format!("{pass_on}--job-id-header"), &all);
    let event = run(&["x-service-event"]);
    event.is_cured("receiver.event_stripped", "warn", &format!("{pass_on}--event-header"), &all);
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
    let (ours, sound) = (found(&mut doctor(&["--url", &url(address)])), sound().await);
    let raise = "raise `body_limit` of the receiver, and the limit of the layer before it";
    ours.is_cured("receiver.body_limit", "fail", raise, &sound);
    assert!(ours.out.contains("the receiver refuses a body of 8 MiB"), "{}", ours.out);
    is_untouched(&inbox).await;

    // What answers the small requests as a receiver does, and a large one in its own way.
    let cut_off = |large: String| {
        found(&mut doctor(&[
            "--url",
            &serve(move |request| match request.body.len() {
                ..1000 if !request.has(TOKEN) => refusal("401 Unauthorized", "unauthorized"),
                ..1000 if request.has("no event") => refusal("400 Bad Request", "bad_request"),
                ..1000 => refusal("400 Bad Request", "invalid_job_id"),
                _ => large.clone(),
            }),
        ]))
    };
    let page = "Content-Type: text/html\r\n";
    let proxy = cut_off(answer("413 Payload Too Large", page, "<h1>too large</h1>"));
    let raise = "raise the limit of the proxy, such as `client_max_body_size 8m` of nginx";
    proxy.is_cured("receiver.body_limit", "fail", raise, &sound);
    for status in ["408 Request Timeout", "500 Internal Server Error", "502 Bad Gateway"] {
        let other = cut_off(answer(status, "", ""));
        let log = "look into the log of the receiver and of the proxy before it";
        other.is_cured("receiver.body_limit", "warn", log, &sound);
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
    let raise = "raise the limits of bodies and their times in the proxy before the receiver";
    found(&mut doctor(&["--url", &url(cut)])).is_cured("receiver.body_cut", "warn", raise, &sound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_accepts_what_is_broken_or_has_no_codes_is_found() {
    let sound = sound().await;
    let with_token = |status, body| {
        serve(move |request| match request.has(TOKEN) {
            false => answer("401 Unauthorized", "", ""),
            true => answer(status, "", body),
        })
    };
    found(&mut doctor(&["--url", &with_token("204 No Content", "")])).is_cured(
        "receiver.accepts_broken",
        "fail",
        "answer 400 to a body that is no JSON; `article-webhook check URL` has all cases",
        &sound,
    );
    let url = with_token("400 Bad Request", "no");
    found(&mut doctor(&["--url", &url])).is_cured(
        "receiver.headers",
        "not_checked",
        "`article-webhook check URL` checks a receiver of any kind, and delivers articles to it",
        &sound,
    );
    let check = tool(["check", &url]).env("ARTICLE_WEBHOOK_TOKEN", TOKEN).output().unwrap();
    let (exit, out, _) = seen(&check);
    assert!(exit == Some(1) && out.contains("the receiver refuses an article"), "{out}");
    found(doctor(&["--url", &url]).env("ARTICLE_WEBHOOK_TOKEN", "")).is_cured(
        "receiver.headers",
        "not_checked",
        "set ARTICLE_WEBHOOK_TOKEN to a token that can be used, or give --token-file PATH",
        &sound,
    );
    let url = serve(|_| refusal("401 Unauthorized", "unauthorized"));
    found(&mut doctor(&["--url", &url])).is_cured(
        "receiver.token_refused",
        "fail",
        TOKEN_REFUSED,
        &sound,
    );
}

/// As with a firewall that drops packets: the system drops those of a connection for which a full queue has no room.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_never_made_is_found() {
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
    found(&mut doctor(&["--url", &url(address)])).is_cured(
        "receiver.no_connection",
        "fail",
        "let the service connect to the port, or check host and port of the URL",
        &sound().await,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_receiver_is_found() {
    let sound = sound().await;
    let fix =
        "look at the load of the machine and the way to it; answer before the work, with an inbox";
    for (seconds, severity) in [(1, "warn"), (5, "fail")] {
        let url = serve(move |_| {
            thread::sleep(Duration::from_millis(seconds * 1000 + 100));
            refusal("401 Unauthorized", "unauthorized")
        });
        let slow = found(doctor(&["--url", &url]).env("ARTICLE_WEBHOOK_TOKEN", ""));
        slow.is_cured("receiver.slow", severity, fix, &sound);
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
    let with_tls = Authority::new().found("localhost", |_| {});
    let fix = "serve the receiver with TLS, and give the service the https URL";
    found.is_cured("receiver.no_tls", "fail", fix, &with_tls);
    found.has("receiver.refuses_wrong_token", "ok");
    found.has("receiver.headers", "not_checked");
    assert_eq!(tokens.load(Ordering::Relaxed), 0);
}
