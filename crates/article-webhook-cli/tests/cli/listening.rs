//! A receiver on this machine that passes deliveries on.

use std::{
    fs,
    io::{BufRead, BufReader, Lines, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{ChildStdout, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use article_webhook::{Delivery, Event, Reply, Sink, fixture};
use article_webhook_inbox::{Inbox, State};
use article_webhook_server::Server;
use article_webhook_tower::{AuthToken, Receiver, receive};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{
    sync::{Barrier, mpsc, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    free_port::free_port,
    running::{Running, TIMEOUT},
    taking_over::deliver,
    tool::{seen, text, tool},
};

pub(crate) const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

pub(crate) struct Listening {
    process: Running,
    lines: Lines<BufReader<ChildStdout>>,
    pub(crate) url: String,
}

impl Listening {
    pub(crate) fn start(inbox: &Path, application: SocketAddr, options: &[&str]) -> Self {
        Self::start_with(inbox, application, options, Stdio::null())
    }

    fn start_with(inbox: &Path, application: SocketAddr, options: &[&str], errors: Stdio) -> Self {
        let application = format!("http://{application}/hooks");
        let mut listen = tool(["listen", "--port", "0", "--json", "--inbox", text(inbox)]);
        let listen = listen.args(["--forward-to", &application]).args(options);
        let listen =
            listen.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(errors);
        let mut process = listen.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let started: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let process = Running(process);
        Self { process, lines, url: started["listening"].as_str().unwrap().to_owned() }
    }

    /// The next line about a job.
    pub(crate) fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    /// The next line about a job that was passed on.
    pub(crate) fn next_forwarded(&mut self) -> Value {
        loop {
            let line = self.next();
            if !line["forwarded"].is_null() {
                return line;
            }
        }
    }

    pub(crate) fn end(self, signal: Signal) -> Option<i32> {
        self.process.signal(signal);
        self.ended()
    }

    /// The exit code, once it has ended.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.process.0.wait().unwrap().code()
    }
}

fn send(url: &str, job: &str, token: &str) -> Option<i32> {
    let output =
        tool(["send", url, "--job", job]).env("ARTICLE_WEBHOOK_TOKEN", token).output().unwrap();
    seen(&output).0
}

/// The application that is being built. Aborting it closes its connections.
pub(crate) async fn application(
    address: SocketAddr,
    sink: impl Sink + Clone + 'static,
) -> JoinHandle<()> {
    let server = Server::bind(address).await.unwrap();
    let receiver = Receiver::new(AuthToken::new(TOKEN).unwrap());
    let service = receive(receiver, sink);
    tokio::spawn(async move { server.serve(service, std::future::pending()).await.unwrap() })
}

/// The first line of the response about the health of a receiver. Empty: nothing listens.
fn health(url: &str) -> String {
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let mut line = String::new();
    if let Ok(mut stream) = TcpStream::connect(address) {
        let request = format!("GET /ready HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream).read_line(&mut line).unwrap();
    }
    line
}

/// The state, the number of attempts and the cause of the only entry, once it is in this state.
async fn entry(file: &Path, state: &str) -> (u64, String) {
    let found = timeout(TIMEOUT, async {
        loop {
            let mut list = tool(["inbox", "list", text(file), "--json", "--state", state]);
            let (_, out, _) = seen(&list.output().unwrap());
            if let Some(line) = out.lines().next() {
                return serde_json::from_str::<Value>(line).unwrap();
            }
            sleep(Duration::from_millis(50)).await;
        }
    });
    let found = found.await.unwrap_or_else(|_| panic!("no entry is {state}"));
    let cause = found["cause"].as_str().unwrap_or_default().to_owned();
    (found["attempts"].as_u64().unwrap(), cause)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_is_passed_on_once_the_application_is_there_although_the_tool_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let address = free_port();

    let mut listening = Listening::start(&file, address, &[]);
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    assert_eq!(send(&listening.url, "job_2", "Bearer another-token-1234"), Some(1));
    let mut seen = [listening.next(), listening.next(), listening.next()];
    // The worker may be the first to speak.
    seen.sort_by_key(|line| line["type"].to_string());
    assert_eq!((&seen[0]["delivered"], &seen[0]["reply"]), (&"job_1".into(), &"stored".into()));
    assert_eq!(
        (&seen[0]["status"], &seen[0]["title"]),
        (&200.into(), &"How to Choose Running Shoes".into())
    );
    assert_eq!((&seen[1]["forwarded"], &seen[1]["status"]), (&"job_1".into(), &Value::Null));
    assert_eq!((&seen[2]["type"], &seen[2]["code"]), (&"refusal".into(), &"unauthorized".into()));
    assert_eq!((&seen[2]["status"], &seen[2]["job_id"]), (&401.into(), &Value::Null));
    assert_eq!(listening.end(Signal::KILL), None);

    let inbox = Inbox::memory();
    application(address, inbox.clone()).await;
    let mut listening = Listening::start(&file, address, &[]);
    let forwarded = loop {
        let line = listening.next();
        if !line["status"].is_null() {
            break line;
        }
    };
    assert_eq!((&forwarded["forwarded"], &forwarded["status"]), (&"job_1".into(), &200.into()));
    let entries = inbox.list(Default::default()).await.unwrap().items;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].key.to_string(), "job_1 (article.complete)");
    assert_eq!(entry(&file, "done").await.0, 1, "only what reached the application counts");
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[test]
fn deliveries_at_once_are_each_shown_on_a_line_of_their_own() {
    const DELIVERIES: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let mut listening = Listening::start(&folder.path().join("inbox.db"), free_port(), &[]);
    let url = &listening.url;
    thread::scope(|scope| {
        for number in 0..DELIVERIES {
            scope.spawn(move || deliver(url, &format!("job_{number:02}")));
        }
    });
    let mut seen = Vec::new();
    while seen.len() < DELIVERIES {
        let line = listening.next();
        if line["type"] != "forward" {
            let [job, reply] = [&line["delivered"], &line["reply"]].map(|it| it.as_str());
            seen.push(format!("{} {}", job.unwrap_or_default(), reply.unwrap_or_default()));
        }
    }
    seen.sort();
    let each = (0..DELIVERIES).map(|number| format!("job_{number:02} stored"));
    assert_eq!(seen, each.collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_passed_on_four_times_then_dead_and_again_after_a_requeue() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let replies = watch::Sender::new(Reply::Unavailable);
    let reply = replies.subscribe();
    let sink = move |_: Delivery| {
        arrivals.send(Instant::now()).unwrap();
        let reply = *reply.borrow();
        async move { reply }
    };
    let address = free_port();
    application(address, sink).await;

    let mut listening = Listening::start(&file, address, &["--forward-speed", "50"]);
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    let seen: Vec<_> = (0..4).map(|_| listening.next_forwarded()).collect();
    assert_eq!(seen[0]["status"], 503);
    assert_eq!(seen[3]["text"], "the application answered 503: dead, see `inbox requeue`");
    assert!(seen[3]["body"].as_str().unwrap().contains("\"error\":\"unavailable\""), "{}", seen[3]);
    assert_eq!(entry(&file, "dead").await, (4, "the application answered 503".to_owned()));
    let mut times = Vec::new();
    while let Ok(time) = arrived.try_recv() {
        times.push(time);
    }
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(pauses.len(), 3);
    for (pause, seconds) in pauses.iter().zip([10, 60, 300]) {
        assert!(*pause >= Duration::from_secs(seconds) / 50, "{pauses:?}");
    }

    replies.send_replace(Reply::Stored);
    let requeue = tool(["inbox", "requeue", text(&file), "job_1"]).output().unwrap();
    assert_eq!(crate::tool::seen(&requeue).0, Some(0));
    assert_eq!(listening.next_forwarded()["status"], 200);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_never_answers_in_time_gets_a_delivery_four_times() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let sink = move |_: Delivery| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<Reply>()
    };
    let address = free_port();
    application(address, sink).await;

    let options = ["--forward-timeout", "300ms", "--forward-speed", "1000"];
    let listening = Listening::start(&file, address, &options);
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    let cause = "the application did not answer: operation timed out".to_owned();
    assert_eq!(entry(&file, "dead").await, (4, cause));
    assert_eq!(tries.load(Ordering::SeqCst), 4);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_application_gets_eight_jobs_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    // It answers once it has eight.
    let (eight, at_once) = (Arc::new(Barrier::new(8)), Arc::new(AtomicUsize::new(0)));
    let most = Arc::new(AtomicUsize::new(0));
    let sink = {
        let most = Arc::clone(&most);
        move |_: Delivery| {
            let (eight, at_once, most) = (eight.clone(), at_once.clone(), most.clone());
            async move {
                most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                eight.wait().await;
                at_once.fetch_sub(1, Ordering::SeqCst);
                Reply::Stored
            }
        }
    };
    let address = free_port();
    application(address, sink).await;
    let mut listening = Listening::start(&file, address, &["--forward-timeout", "10s"]);
    for number in 0..16 {
        assert_eq!(send(&listening.url, &format!("job_{number}"), TOKEN), Some(0));
    }
    for _ in 0..16 {
        assert_eq!(listening.next_forwarded()["status"], 200, "it waits for eight");
    }
    assert_eq!(most.load(Ordering::SeqCst), 8);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_arrives_although_the_application_and_the_tool_die_and_return() {
    const JOBS: u64 = 24;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let (address, inbox) = (free_port(), Inbox::memory());
    let sink = {
        let inbox = inbox.clone();
        move |delivery: Delivery| {
            let inbox = inbox.clone();
            async move {
                sleep(Duration::from_millis(40)).await;
                inbox.accept(delivery).await
            }
        }
    };
    let options = ["--forward-speed", "100"];
    let mut listening = Listening::start(&file, address, &options);
    let mut running = application(address, sink.clone()).await;
    for number in 0..JOBS {
        assert_eq!(send(&listening.url, &format!("job_{number}"), TOKEN), Some(0));
        match number {
            6 => running.abort(),
            12 => running = application(address, sink.clone()).await,
            9 | 15 => {
                assert_eq!(listening.end(Signal::KILL), None);
                listening = Listening::start(&file, address, &options);
            }
            _ => {}
        }
    }
    let all = timeout(TIMEOUT, async {
        while inbox.counts().await.unwrap().of(State::Waiting) < JOBS {
            sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(all.await.is_ok(), "{:?}", inbox.counts().await);
    assert_eq!(listening.end(Signal::INT), Some(0));
    running.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_another_host_only_if_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let address = free_port();
    application(address, Inbox::memory()).await;
    // It leads to this machine, and is not one of its own addresses.
    let other = format!("http://0.0.0.0:{}/hooks", address.port());
    let run = |arguments: &[&str]| {
        let mut run = tool([]);
        seen(&run.args(arguments).env("ARTICLE_WEBHOOK_TOKEN", TOKEN).output().unwrap())
    };
    let listen = ["listen", "--port", "0", "--inbox", text(&file), "--forward-to", &other];
    for refused in [["send", &other].as_slice(), &listen] {
        let (exit, out, error) = run(refused);
        assert_eq!((exit, &*out), (Some(2), ""), "{error}");
        assert!(error.contains("fix:   add --allow-remote where"), "{error}");
    }
    assert!(!file.exists());
    assert_eq!(run(&["send", &other, "--allow-remote"]).0, Some(0));

    let other = SocketAddr::from(([0, 0, 0, 0], address.port()));
    let mut listening = Listening::start(&file, other, &["--allow-remote"]);
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    assert_eq!(listening.next_forwarded()["status"], 200);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

/// It is what the service sends, and the application that is being built must answer it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_quarantine_is_passed_on_each_time_that_it_is_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let replies = watch::Sender::new(Reply::Unavailable);
    let reply = replies.subscribe();
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let sink = move |delivery: Delivery| {
        arrivals.send((delivery.event().clone(), delivery.body().to_vec())).unwrap();
        let reply = *reply.borrow();
        async move { reply }
    };
    let address = free_port();
    let mut listening = Listening::start(&file, address, &[]);
    let service = reqwest::Client::builder().no_proxy().build().unwrap();
    let failed = br#"{"job_id":"job_1","status":"failed"}"#;
    let url = listening.url.clone();
    let deliver = async |job: &str, body: &[u8]| {
        let post = service.post(&url).body(body.to_vec());
        let post = post.header("Authorization", TOKEN).header("Content-Type", "application/json");
        let post =
            post.header("X-Service-Event", "article.complete").header("X-Service-Job-Id", job);
        post.send().await.unwrap().status().as_u16()
    };
    let quarantined = async |job: &str| {
        let mut list = tool(["inbox", "list", text(&file), "--json", "--state", "quarantined"]);
        let (_, out, _) = seen(&list.args(["--job", job]).output().unwrap());
        out.lines().count()
    };

    // The inbox has it, and the application does not.
    assert_eq!(deliver("job_1", failed).await, 503);
    let line = listening.next_forwarded();
    assert_eq!((&line["forwarded"], &line["status"]), (&"job_1".into(), &Value::Null));
    let why = line["text"].as_str().unwrap();
    assert!(why.starts_with("the application cannot be reached: "), "{why}");
    let line = listening.next();
    assert_eq!((&line["reply"], &line["status"]), (&"quarantined".into(), &503.into()));

    application(address, sink).await;
    for (reply, status, forwarded, says) in [
        (Reply::Unavailable, 503, 503, "the application answered 503"),
        (Reply::Stored, 200, 200, "forwarded: 200 in "),
    ] {
        replies.send_replace(reply);
        assert_eq!(deliver("job_1", failed).await, status);
        assert_eq!(arrived.recv().await.unwrap(), (Event::ArticleComplete, failed.to_vec()));
        let line = listening.next_forwarded();
        assert_eq!(line["status"], forwarded);
        assert!(line["text"].as_str().unwrap().starts_with(says), "{line}");
    }
    assert_eq!(quarantined("job_1").await, 1);
    let (exit, out, _) = seen(&tool(["inbox", "status", text(&file)]).output().unwrap());
    assert!(exit == Some(1) && out.starts_with("1 quarantined: "), "{out}");

    // The application refuses it as the receiver here does, so its sink does not get it.
    let cut = br#"{"job_id":"job_2","status":"complete","#;
    for _ in 0..2 {
        assert_eq!(deliver("job_2", cut).await, 400);
        let line = listening.next_forwarded();
        assert_eq!((&line["forwarded"], &line["status"]), (&"job_2".into(), &400.into()));
    }
    assert_eq!(quarantined("job_2").await, 1);
    assert_eq!(deliver("job_2", fixture::complete().job_id("job_2").bytes()).await, 200);
    assert_eq!(listening.next_forwarded()["status"], 200);
    assert_eq!(quarantined("job_2").await, 0, "a good copy ends it");
    assert_eq!(listening.end(Signal::INT), Some(0));
}

/// The way out of a worker that ended: what it says of deliveries holds, and so does what it says of a new start.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_stored_when_nothing_is_passed_on_any_more_and_passed_on_by_a_new_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let (address, inbox) = (free_port(), Inbox::memory());
    application(address, inbox.clone()).await;
    let errors = folder.path().join("errors");
    let mut listening =
        Listening::start_with(&file, address, &[], fs::File::create(&errors).unwrap().into());
    let other_program = rusqlite::Connection::open(&file).unwrap();
    let trigger = "CREATE TRIGGER audit BEFORE UPDATE ON article_inbox_entries \
                   BEGIN SELECT RAISE(ABORT, 'no'); END";
    other_program.execute_batch(trigger).unwrap();
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    let advice = "deliveries are stored meanwhile; fix the cause and start `listen` again, which forwards them";
    let reported = timeout(TIMEOUT, async {
        loop {
            let reported = fs::read_to_string(&errors).unwrap();
            if reported.contains(advice) {
                return reported;
            }
            sleep(Duration::from_millis(50)).await;
        }
    });
    let reported = reported.await.expect("the worker ends");
    assert!(reported.contains("nothing is forwarded any more: "), "{reported}");

    assert_eq!(send(&listening.url, "job_2", TOKEN), Some(0));
    assert_eq!(
        (&listening.next()["reply"], &listening.next()["reply"]),
        (&"stored".into(), &"stored".into())
    );
    assert_eq!(listening.end(Signal::INT), Some(5));
    other_program.execute_batch("DROP TRIGGER audit").unwrap();
    drop(other_program);

    let mut listening = Listening::start(&file, address, &[]);
    let mut passed_on = [listening.next_forwarded(), listening.next_forwarded()];
    passed_on.sort_by_key(|line| line["forwarded"].to_string());
    for (line, job) in passed_on.iter().zip(["job_1", "job_2"]) {
        assert_eq!((&line["forwarded"], &line["status"]), (&job.into(), &200.into()));
    }
    assert_eq!(inbox.counts().await.unwrap().of(State::Waiting), 2);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_article_is_passed_on_as_it_came_and_again_if_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let sink = move |delivery: Delivery| {
        let event = delivery.event().as_str().to_owned();
        let seen = (delivery.job_id().to_string(), event, delivery.body().to_vec());
        let reply = if seen.0 == "job_2" { Reply::Unavailable } else { Reply::Stored };
        arrivals.send(seen).unwrap();
        async move { reply }
    };
    let address = free_port();
    application(address, sink).await;
    let mut listening = Listening::start(&file, address, &["--forward-speed", "1000"]);
    let service = reqwest::Client::builder().no_proxy().build().unwrap();
    let article = fixture::complete().job_id("job_1").bytes().to_vec();
    let odd = b"{ \"job_id\":\"job_2\",\t\"note\":\"\\u00e9\" }\n".to_vec();
    let mut deliver = async |job: &str, event: &str, body: &[u8], status: Value| {
        let post = service.post(&listening.url).body(body.to_vec());
        let post = post.header("Authorization", TOKEN).header("Content-Type", "application/json");
        let post = post.header("X-Service-Event", event).header("X-Service-Job-Id", job);
        assert_eq!(post.send().await.unwrap().status(), 200, "{job}");
        let passed_on = timeout(TIMEOUT, arrived.recv()).await.expect("it is passed on");
        assert_eq!(passed_on.unwrap(), (job.into(), event.into(), body.to_vec()));
        assert_eq!(listening.next_forwarded()["status"], status, "{job}");
    };
    deliver("job_1", "article.retracted", &article, 200.into()).await;
    deliver("job_2", "article.complete", &odd, 503.into()).await;
    for _ in 1..4 {
        assert_eq!(arrived.recv().await.unwrap().2, odd);
    }
    assert_eq!(entry(&file, "dead").await, (4, "the application answered 503".to_owned()));
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_body_of_a_job_is_passed_on_under_another_id_or_after_the_erasure_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let sink = move |delivery: Delivery| {
        arrivals.send(delivery.body().clone()).unwrap();
        async { Reply::Stored }
    };
    let address = free_port();
    application(address, sink).await;
    let mut listening = Listening::start(&file, address, &[]);
    let url = listening.url.clone();
    let deliver = |body: &[u8]| {
        let path = folder.path().join("body.json");
        std::fs::write(&path, body).unwrap();
        let mut send = tool(["send", &url, "--file", text(&path)]);
        assert_eq!(seen(&send.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).output().unwrap()).0, Some(0));
    };
    let first = fixture::complete().job_id("job_1").bytes().clone();
    let [other, of_another_id] =
        ["job_1", "job_2"].map(|job| fixture::unicode().job_id(job).bytes().clone());
    deliver(&first);
    assert_eq!(listening.next_forwarded()["status"], 200);
    deliver(&other);
    let line = loop {
        let line = listening.next();
        if line["reply"] == "another body" {
            break line;
        }
    };
    let erase = format!("article-webhook inbox erase {} job_1", text(&file));
    let says = format!(
        "kept, and not forwarded: the inbox hands out one body of a job; deliver it under another job id, or again after: {erase}"
    );
    assert_eq!(line["text"], says);

    deliver(&of_another_id);
    assert_eq!(listening.next_forwarded()["status"], 200);
    let words: Vec<_> = erase.split(' ').skip(1).collect();
    assert_eq!(seen(&tool([]).args(words).output().unwrap()).0, Some(0));
    deliver(&other);
    assert_eq!(listening.next_forwarded()["status"], 200);
    for body in [first, of_another_id, other] {
        assert_eq!(arrived.try_recv().unwrap(), body);
    }
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[test]
fn a_receiver_that_was_told_to_stop_fails_its_health_check_and_stores_what_still_comes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let options = ["--no-page", "--shutdown-delay", "10s"];
    let mut listening = Listening::start(&file, free_port(), &options);
    assert_eq!(health(&listening.url), "HTTP/1.1 200 OK\r\n");

    listening.process.signal(Signal::TERM);
    let begin = Instant::now();
    while health(&listening.url) != "HTTP/1.1 503 Service Unavailable\r\n" {
        assert!(begin.elapsed() < TIMEOUT);
    }
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    assert_eq!(listening.next()["reply"], "stored");
    assert_eq!(listening.ended(), Some(0));
}
