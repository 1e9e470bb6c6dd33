//! A receiver on this machine that passes deliveries on.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use article_webhook::{Delivery, Event, Reply, Sink, fixture};
use article_webhook_inbox::{Inbox, State};
use article_webhook_server::Server;
use article_webhook_tower::{AuthToken, Receiver, receive};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    deliver::deliver,
    free_port::free_port,
    running::{Running, TIMEOUT, until},
    sample,
    tool::{TOKEN, run, text, tool},
};

pub(crate) struct Listening {
    pub(crate) process: Running,
    pub(crate) url: String,
}

impl Listening {
    pub(crate) fn start(inbox: &Path, application: SocketAddr, options: &[&str]) -> Self {
        let application = format!("http://{application}/hooks");
        let forward = ["--forward-to", &application];
        Self::with(inbox, &[&forward, options].concat(), Stdio::null())
    }

    pub(crate) fn with(inbox: &Path, options: &[&str], errors: impl Into<Stdio>) -> Self {
        let mut listen = tool(["listen", "--port", "0", "--json", "--inbox", text(inbox)]);
        let listen = listen.args(options).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
        let (process, started) = Running::start_with(listen, errors);
        Self { process, url: started["listening"].as_str().unwrap().to_owned() }
    }

    /// The next line about a job.
    pub(crate) fn next(&mut self) -> Value {
        self.process.next()
    }

    /// The next of these lines for which this is so.
    pub(crate) fn next_where(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.next();
            if is_it(&line) {
                return line;
            }
        }
    }

    /// The next line about a job that was passed on.
    pub(crate) fn next_forwarded(&mut self) -> Value {
        self.next_where(|line| !line["forwarded"].is_null())
    }

    pub(crate) fn end(mut self, signal: Signal) -> Option<i32> {
        self.process.signal(signal);
        self.process.ended()
    }
}

/// Delivers an article with the tool. Returns how it ends.
fn send(url: &str, job: &str) -> Option<i32> {
    run(&["send", url, "--job", job]).0
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

/// What an application does that gives these replies, and what arrives at it.
pub(crate) fn replying(
    reply: impl Fn(&Delivery) -> Reply + Clone + Send + Sync + 'static,
) -> (impl Sink + Clone + 'static, mpsc::UnboundedReceiver<(Instant, Delivery)>) {
    let (arrivals, arrived) = mpsc::unbounded_channel();
    let sink = move |delivery: Delivery| {
        let reply = reply(&delivery);
        arrivals.send((Instant::now(), delivery)).unwrap();
        async move { reply }
    };
    (sink, arrived)
}

/// The number of attempts and the cause of the only entry, once it is in this state.
fn entry(file: &Path, state: &str) -> (u64, String) {
    let found: Value = until("no entry is in the state", || {
        let (_, out, _) = run(&["inbox", "list", text(file), "--json", "--state", state]);
        out.lines().next().map(|line| serde_json::from_str(line).unwrap())
    });
    let cause = found["cause"].as_str().unwrap_or_default().to_owned();
    (found["attempts"].as_u64().unwrap(), cause)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_is_passed_on_once_the_application_is_there_although_the_tool_was_killed() {
    let (_folder, file) = sample::place();
    let address = free_port();

    let mut listening = Listening::start(&file, address, &[]);
    assert_eq!(send(&listening.url, "job_1"), Some(0));
    let article = fixture::complete().job_id("job_2").bytes().clone();
    let wrong = "Bearer another-token-1234";
    assert_eq!(deliver(&listening.url, wrong, "article.complete", "job_2", article).await, 401);
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
    // Its lease has been given back.
    assert_eq!(entry(&file, "waiting").0, 0);
    assert_eq!(listening.end(Signal::KILL), None);

    let inbox = Inbox::memory();
    application(address, inbox.clone()).await;
    // It leads to this machine, and is not one of its own addresses.
    let other = SocketAddr::from(([0, 0, 0, 0], address.port()));
    let mut listening = Listening::start(&file, other, &["--allow-remote"]);
    let forwarded = listening.next_where(|line| !line["status"].is_null());
    assert_eq!((&forwarded["forwarded"], &forwarded["status"]), (&"job_1".into(), &200.into()));
    let entries = inbox.list(Default::default()).await.unwrap().items;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].key.to_string(), "job_1 (article.complete)");
    assert_eq!(entry(&file, "done").0, 1, "only what reached the application counts");
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_passed_on_four_times_then_dead_and_again_after_a_requeue() {
    let (_folder, file) = sample::place();
    let replies = watch::Sender::new(Reply::Unavailable);
    let reply = replies.subscribe();
    let (sink, mut arrived) = replying(move |_| *reply.borrow());
    let address = free_port();
    application(address, sink).await;

    let mut listening = Listening::start(&file, address, &["--forward-speed", "50"]);
    // It is no article.
    let odd = b"{ \"job_id\":\"job_1\",\t\"note\":\"\\u00e9\" }\n";
    let delivered = deliver(&listening.url, TOKEN, "article.complete", "job_1", odd.to_vec());
    assert_eq!(delivered.await, 200);
    let seen: Vec<_> = (0..4).map(|_| listening.next_forwarded()).collect();
    assert_eq!(seen[0]["status"], 503);
    assert_eq!(seen[3]["text"], "the application answered 503: dead, see `inbox requeue`");
    assert!(seen[3]["body"].as_str().unwrap().contains("\"error\":\"unavailable\""), "{}", seen[3]);
    assert_eq!(entry(&file, "dead"), (4, "the application answered 503".to_owned()));
    let mut times = Vec::new();
    while let Ok((time, delivery)) = arrived.try_recv() {
        assert_eq!(delivery.body()[..], odd[..]);
        times.push(time);
    }
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(pauses.len(), 3);
    for (pause, seconds) in pauses.iter().zip([10, 60, 300]) {
        assert!(*pause >= Duration::from_secs(seconds) / 50, "{pauses:?}");
    }

    replies.send_replace(Reply::Stored);
    assert_eq!(run(&["inbox", "requeue", text(&file), "job_1"]).0, Some(0));
    assert_eq!(listening.next_forwarded()["status"], 200);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_never_answers_in_time_gets_a_delivery_four_times() {
    let (_folder, file) = sample::place();
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
    assert_eq!(send(&listening.url, "job_1"), Some(0));
    let cause = "the application did not answer: operation timed out".to_owned();
    assert_eq!(entry(&file, "dead"), (4, cause));
    assert_eq!(tries.load(Ordering::SeqCst), 4);
    assert_eq!(listening.end(Signal::INT), Some(0));
}

/// It is what the service sends, and the application that is being built must answer it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_quarantine_is_passed_on_each_time_that_it_is_delivered() {
    let (_folder, file) = sample::place();
    let replies = watch::Sender::new(Reply::Unavailable);
    let reply = replies.subscribe();
    let (sink, mut arrived) = replying(move |_| *reply.borrow());
    let address = free_port();
    let mut listening = Listening::start(&file, address, &[]);
    let failed = br#"{"job_id":"job_1","status":"failed"}"#;
    let url = listening.url.clone();
    let deliver = async |job: &str, body: &[u8]| {
        deliver(&url, TOKEN, "article.complete", job, body.to_vec()).await
    };
    let quarantined = |job: &str| {
        let list = ["inbox", "list", text(&file), "--json", "--state", "quarantined", "--job", job];
        run(&list).1.lines().count()
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
        let (_, delivery) = arrived.recv().await.unwrap();
        assert_eq!(
            (delivery.event(), &delivery.body()[..]),
            (&Event::ArticleComplete, &failed[..])
        );
        let line = listening.next_forwarded();
        assert_eq!(line["status"], forwarded);
        assert!(line["text"].as_str().unwrap().starts_with(says), "{line}");
    }
    assert_eq!(quarantined("job_1"), 1);
    let (exit, out, _) = run(&["inbox", "status", text(&file)]);
    assert!(exit == Some(1) && out.starts_with("1 quarantined: "), "{out}");

    // The application refuses it as the receiver here does, so its sink does not get it.
    let cut = br#"{"job_id":"job_2","status":"complete","#;
    for _ in 0..2 {
        assert_eq!(deliver("job_2", cut).await, 400);
        let line = listening.next_forwarded();
        assert_eq!((&line["forwarded"], &line["status"]), (&"job_2".into(), &400.into()));
    }
    assert_eq!(quarantined("job_2"), 1);
    assert_eq!(deliver("job_2", fixture::complete().job_id("job_2").bytes()).await, 200);
    assert_eq!(listening.next_forwarded()["status"], 200);
    assert_eq!(quarantined("job_2"), 0, "a good copy ends it");
    assert_eq!(listening.end(Signal::INT), Some(0));
}

/// The way out of a worker that ended: what it says of deliveries holds, and so does what it says of a new start.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_stored_when_nothing_is_passed_on_any_more_and_passed_on_by_a_new_start() {
    let (folder, file) = sample::place();
    let (address, inbox) = (free_port(), Inbox::memory());
    application(address, inbox.clone()).await;
    let errors = folder.path().join("errors");
    let forward = ["--forward-to", &*format!("http://{address}/hooks")];
    let mut listening = Listening::with(&file, &forward, fs::File::create(&errors).unwrap());
    let other_program = rusqlite::Connection::open(&file).unwrap();
    let trigger = "CREATE TRIGGER audit BEFORE UPDATE ON article_inbox_entries \
                   BEGIN SELECT RAISE(ABORT, 'no'); END";
    other_program.execute_batch(trigger).unwrap();
    assert_eq!(send(&listening.url, "job_1"), Some(0));
    let advice = "deliveries are stored meanwhile; fix the cause and start `listen` again, which forwards them";
    let reported = until("the worker does not end", || {
        Some(fs::read_to_string(&errors).unwrap()).filter(|reported| reported.contains(advice))
    });
    assert!(reported.contains("nothing is forwarded any more: "), "{reported}");

    assert_eq!(send(&listening.url, "job_2"), Some(0));
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
async fn another_body_of_a_job_is_kept_and_passed_on_after_an_erasure() {
    // It looks like an option, and like a command of a shell.
    const JOB: &str = "--all;$(false)'";
    let (_folder, file) = sample::place();
    let (sink, mut arrived) = replying(|_| Reply::Stored);
    let address = free_port();
    application(address, sink).await;
    let mut listening = Listening::start(&file, address, &[]);
    let mut deliver = async |body: &[u8], reply: &str| {
        let body = body.to_vec();
        assert_eq!(deliver(&listening.url, TOKEN, "article.complete", JOB, body).await, 200);
        let line = match reply {
            "stored" => {
                let mut lines = [listening.next(), listening.next()];
                // The worker may be the first to speak.
                lines.sort_by_key(|line| line["delivered"].is_null());
                let [line, forwarded] = lines;
                assert_eq!(forwarded["status"], 200, "{forwarded}");
                line
            }
            _ => listening.next(),
        };
        assert_eq!(line["reply"], reply, "{line}");
        line["text"].clone()
    };
    let first = fixture::complete().job_id(JOB).bytes().clone();
    let other = fixture::unicode().job_id(JOB).bytes().clone();
    deliver(&first, "stored").await;
    assert_eq!(deliver(&first, "duplicate").await, Value::Null);
    let erase = format!(r"article-webhook inbox erase -- {} '--all;$(false)'\'''", text(&file));
    let says = format!(
        "kept, and not forwarded: the inbox hands out one body of a job; deliver it under another job id, or again after: {erase}"
    );
    for _ in 0..2 {
        assert_eq!(deliver(&other, "another body").await, says);
    }
    let (_, shown, _) = run(&["inbox", "show", "--json", "--", text(&file), JOB]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["bodies"].as_array().unwrap().len(), 2);

    let path = Path::new(env!("CARGO_BIN_EXE_article-webhook")).parent().unwrap();
    let mut shell = Command::new("/bin/sh");
    let erased = shell.args(["-c", &erase]).env("PATH", path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&erased.stdout), "erased 1 entry\n", "{erased:?}");
    deliver(&other, "stored").await;
    for body in [first, other] {
        assert_eq!(*arrived.try_recv().unwrap().1.body(), body);
    }
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_was_told_to_stop_fails_its_health_check_and_stores_what_still_comes() {
    let (_folder, file) = sample::place();
    let options = ["--no-page", "--shutdown-delay", "10s"];
    let mut listening = Listening::start(&file, free_port(), &options);
    let ready = reqwest::Url::parse(&listening.url).unwrap().join("/ready").unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let health = async || client.get(ready.clone()).send().await.unwrap().status();
    assert_eq!(health().await, 200);

    listening.process.signal(Signal::TERM);
    let fails = timeout(TIMEOUT, async { while health().await != 503 {} });
    fails.await.expect("its health check fails");
    assert_eq!(send(&listening.url, "job_1"), Some(0));
    assert_eq!(listening.next()["reply"], "stored");
    assert_eq!(listening.process.ended(), Some(0));
}
