//! A receiver on this machine that passes deliveries on.

use std::{
    io::{BufRead, BufReader, Lines},
    net::TcpListener,
    path::Path,
    process::{Child, ChildStdout, Stdio},
    time::Duration,
};

use article_inbox::Inbox;
use article_webhook_server::Server;
use article_webhook_tower::{AuthToken, Receiver, receive};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::tool::{seen, text, tool};

const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

struct Listening {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl Listening {
    fn start(inbox: &Path, application: &str) -> Self {
        let mut listen = tool([
            "listen",
            "--port",
            "0",
            "--json",
            "--inbox",
            text(inbox),
            "--forward-to",
            application,
        ]);
        let listen =
            listen.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = listen.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let started: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        Self { process, lines, url: started["listening"].as_str().unwrap().to_owned() }
    }

    /// The next line about a job.
    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
        self.process.wait().unwrap().code()
    }
}

fn send(url: &str, job: &str, token: &str) -> Option<i32> {
    let output =
        tool(["send", url, "--job", job]).env("ARTICLE_WEBHOOK_TOKEN", token).output().unwrap();
    seen(&output).0
}

#[tokio::test(flavor = "multi_thread")]
async fn what_arrives_is_passed_on_once_the_application_is_there_although_the_tool_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    // A port on which nothing listens yet.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let application = format!("http://{address}/hooks");

    let mut listening = Listening::start(&file, &application);
    assert_eq!(send(&listening.url, "job_1", TOKEN), Some(0));
    assert_eq!(send(&listening.url, "job_2", "Bearer another-token-1234"), Some(1));
    let mut seen = [listening.next(), listening.next()];
    // The worker may be the first to speak.
    seen.sort_by_key(|line| line["delivered"].is_null());
    assert_eq!((&seen[0]["delivered"], &seen[0]["reply"]), (&"job_1".into(), &"stored".into()));
    assert_eq!((&seen[1]["forwarded"], &seen[1]["status"]), (&"job_1".into(), &Value::Null));
    assert_eq!(listening.end(Signal::KILL), None);

    let inbox = Inbox::memory();
    let server = Server::bind(address).await.unwrap();
    let receiver = Receiver::new(AuthToken::new(TOKEN).unwrap());
    tokio::spawn(server.serve(receive(receiver, inbox.clone()), std::future::pending()));

    let mut listening = Listening::start(&file, &application);
    let forwarded = loop {
        let line = listening.next();
        if !line["status"].is_null() {
            break line;
        }
    };
    assert_eq!((&forwarded["forwarded"], &forwarded["status"]), (&"job_1".into(), &200.into()));
    let entries = inbox.list(Default::default()).await.unwrap().entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].key.to_string(), "job_1 (article.complete)");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(listening.end(Signal::INT), Some(0));

    let counts = tool(["inbox", "counts", text(&file), "--json"]).output().unwrap();
    let counts: Value = serde_json::from_slice(&counts.stdout).unwrap();
    assert_eq!((&counts["entries"]["done"], &counts["total"]), (&1.into(), &1.into()));
}
