//! A receiver whose output is read late, or not at all.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    free_port::free_port,
    running::{Running, TIMEOUT, until},
    tool::{text, tool},
};

const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

/// More than a pipe holds, and more than waits for it.
const DELIVERIES: usize = 120;
const TITLE: usize = 16 << 10;

struct Listening {
    process: Running,
    url: String,
    service: Client,
    _folder: TempDir,
}

fn listen(folder: &Path, port: u16) -> Command {
    let mut listen = tool(["listen", "--json", "--no-page", "--port", &port.to_string()]);
    listen.args(["--inbox", text(&folder.join("inbox.db"))]).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    listen
}

impl Listening {
    /// Its output is not read but for the first line.
    fn start() -> (Self, impl BufRead) {
        let folder = tempfile::tempdir().unwrap();
        let mut listen = listen(folder.path(), 0);
        let mut process = listen.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        let url = started["listening"].as_str().unwrap().to_owned();
        let service = Client::builder().no_proxy().timeout(TIMEOUT).build().unwrap();
        (Self { process: Running(process), url, service, _folder: folder }, output)
    }

    async fn deliver(&self, job: &str, token: &str) -> u16 {
        let article = json!({ "title": "x".repeat(TITLE), "html": "<p>a</p>" });
        let body = json!({ "job_id": job, "status": "complete", "article": article });
        let post = self.service.post(&self.url).body(body.to_string());
        let post = post.header("Authorization", token).header("Content-Type", "application/json");
        let post = post.header("X-Service-Event", "article.complete");
        post.header("X-Service-Job-Id", job).send().await.unwrap().status().as_u16()
    }

    async fn deliver_all(&self) {
        for number in 0..DELIVERIES {
            assert_eq!(self.deliver(&format!("job_{number}"), TOKEN).await, 200);
        }
    }

    fn end(&mut self) -> Option<i32> {
        self.process.interrupt();
        self.process.ended()
    }
}

#[tokio::test]
async fn a_reader_that_stops_holds_up_no_delivery_and_is_shown_what_it_missed() {
    let (mut listening, output) = Listening::start();
    listening.deliver_all().await;
    // It reads again.
    let mut lines =
        output.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let (mut shown, mut lost) = (0, 0);
    while shown + lost < DELIVERIES {
        let line = lines.next().unwrap();
        match line["lost_lines"].as_u64() {
            Some(number) => lost += usize::try_from(number).unwrap(),
            None => {
                assert_eq!(line["delivered"], format!("job_{}", shown + lost), "in order");
                shown += 1;
            }
        }
    }
    assert!(shown > 0 && lost > 0, "{shown} shown, {lost} lost");
    assert_eq!(listening.deliver("job_last", TOKEN).await, 200);
    assert_eq!(lines.next().unwrap()["delivered"], "job_last");
    assert_eq!(listening.end(), Some(0));
}

#[tokio::test]
async fn ctrl_c_ends_it_although_its_output_is_not_read() {
    let (mut listening, _output) = Listening::start();
    listening.deliver_all().await;
    assert_eq!(listening.end(), Some(0));
}

#[tokio::test]
async fn a_reader_that_has_ended_ends_it_after_the_delivery_is_stored() {
    let (mut listening, output) = Listening::start();
    drop(output);
    assert_eq!(listening.deliver("job_1", TOKEN).await, 200);
    assert_eq!(listening.process.ended(), Some(0));
}

#[tokio::test]
async fn refusals_are_answered_although_the_log_is_not_read() {
    let (mut listening, _output) = Listening::start();
    for _ in 0..1500 {
        let status = listening.deliver("job_1", "Bearer another-token-1234").await;
        assert_eq!(status, 401);
    }
    let mut log = listening.process.0.stderr.take().unwrap();
    let mut some = vec![0; 4096];
    let length = log.read(&mut some).unwrap();
    assert!(String::from_utf8_lossy(&some[..length]).contains("unauthorized"), "{some:?}");
    drop(log);
    assert_eq!(listening.end(), Some(0));
}

#[test]
fn the_first_line_says_where_it_listens_although_deliveries_are_refused_already() {
    let address = free_port();
    let is_over = Arc::new(AtomicBool::new(false));
    let refused = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                deliver_wrongly(address);
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let file = File::create(&path).unwrap();
    let mut listen = listen(folder.path(), address.port());
    let process = Running(listen.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap());
    let lines = until("nothing is logged", || {
        let lines: Vec<_> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
        lines.iter().any(|line| line.contains("WARN")).then_some(lines)
    });
    is_over.store(true, Ordering::Relaxed);
    refused.join().unwrap();
    drop(process);
    assert!(lines[0].contains("\"listening\""), "{lines:?}");
    assert!(lines[1..].iter().any(|line| line.contains("unauthorized")), "{lines:?}");
}

/// A delivery with a wrong token, as soon as the port is open.
fn deliver_wrongly(address: SocketAddr) {
    let Ok(mut stream) = TcpStream::connect(address) else { return };
    let head = "POST /webhooks/articles HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer no\r\n\
                Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.read_to_end(&mut Vec::new());
}
