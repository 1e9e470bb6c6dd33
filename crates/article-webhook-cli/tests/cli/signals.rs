//! Ctrl-C: while a command waits, writes or serves, and after something may have been done already.

use std::{
    io::Read,
    net::TcpListener,
    process::{ChildStdin, Stdio},
    thread,
    time::{Duration, Instant},
};

use reqwest::{Client, Response};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    running::{Running, TIMEOUT},
    sample,
    tool::{TOKEN, seen, text, tool},
};

#[test]
fn a_simulated_service_has_the_url_and_the_key_that_it_prints() {
    let mut service = tool(["simulate", "--speed", "10000", "--order", "Shoes", "--json"]);
    let (mut service, started) = Running::start(&mut service);
    let job = service.next()["ordered"].as_str().unwrap().to_owned();
    let [url, key] = ["url", "api_key"].map(|name| started[name].as_str().unwrap());
    let mut get = tool(["get", &job, "--wait", "--api-url", url]);
    let (exit, out, error) = seen(&get.env("ARTICLE_API_KEY", key).output().unwrap());
    assert!(exit == Some(0) && out.contains(&job), "{out}{error}");
}

/// A process whose standard input stays open, once it has begun to read.
fn waiting_for_input(arguments: &[&str]) -> (Running, ChildStdin) {
    let mut waiting = tool([]);
    waiting.args(arguments).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    waiting.env("ARTICLE_API_KEY", "sk-1").env("ARTICLE_API_URL", "http://127.0.0.1:9");
    let waiting = waiting.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut waiting = Running::of(waiting);
    let input = waiting.process.stdin.take().unwrap();
    waiting.until_it_handles_ctrl_c();
    thread::sleep(Duration::from_millis(300));
    (waiting, input)
}

#[tokio::test]
async fn a_command_that_waits_for_input_ends_at_ctrl_c_at_once_and_says_so() {
    let (_folder, file) = sample::inbox().await;
    let (file, input) = (text(&file), "/dev/stdin");
    for command in [
        &["inbox", "import", file][..],
        &["inbox", "import", file, input],
        &["collect", "--inbox", file, "--from", "-"],
        &["send", "http://127.0.0.1:9/", "--file", input],
        &["send", "http://127.0.0.1:9/", "--token-file", input],
        &["get", "job_1", "--api-key-file", input],
        &["brand", input],
    ] {
        for (format, says) in [
            (&[][..], "error: interrupted\nfix:   repeat the command\n"),
            (
                &["--json"],
                "\"code\":\"failed\",\"error\":\"interrupted\",\"exit\":1,\"fix\":\"repeat the command\"}\n",
            ),
        ] {
            let (mut waiting, _open) = waiting_for_input(&[command, format].concat());
            let start = Instant::now();
            waiting.interrupt();
            let (exit, error) = waiting.ended_with_error();
            let took = start.elapsed();
            assert_eq!(exit, Some(1), "{command:?}");
            assert!(error.ends_with(says), "{command:?}: {error}");
            assert!(took < Duration::from_secs(10), "{command:?}: {took:?}");
        }
    }
}

#[tokio::test]
async fn an_order_that_is_interrupted_is_reported_with_an_unknown_outcome() {
    let (_folder, file) = sample::inbox().await;
    // It takes a request, and does not answer. Its connections stay open.
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut connections = Vec::new();
    for (options, fix) in [
        (&[][..], "look at the service before you order it again"),
        (
            &["--intent", "post-17", "--inbox", text(&file)],
            "repeat the command: the inbox remembers the intent",
        ),
    ] {
        let mut order = tool(["order", "Shoes"]);
        order.args(options).env("ARTICLE_API_KEY", "sk-1");
        order.stdout(Stdio::null()).stderr(Stdio::piped());
        order.env("ARTICLE_API_URL", format!("http://{}", service.local_addr().unwrap()));
        let mut order = Running::of(&mut order);
        let mut stream = service.accept().unwrap().0;
        stream.read_exact(&mut [0; 64]).unwrap();
        connections.push(stream);
        order.interrupt();
        let (exit, error) = order.ended_with_error();
        let says =
            "error: interrupted: it is not known whether the service took the order\nfix:   ";
        assert_eq!(exit, Some(1), "{error}");
        assert!(error.starts_with(&format!("{says}{fix}")), "{error}");
    }
}

/// The stream of events of an open page, and the first of them.
async fn events(page: &str) -> Response {
    let browser = Client::builder().no_proxy().build().unwrap();
    let opened = browser.get(page).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let mut events = opened.url().join("events").unwrap();
    events.set_query(None);
    let stream =
        browser.get(events).header("Cookie", cookie).header("Sec-Fetch-Site", "same-origin");
    let mut stream = stream.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    let first = timeout(TIMEOUT, stream.chunk()).await.expect("a change is reported").unwrap();
    assert!(first.is_some());
    stream
}

#[tokio::test]
async fn ctrl_c_ends_a_page_and_a_receiver_whose_page_a_browser_has_open() {
    let (_folder, file) = sample::inbox().await;
    let file = text(&file);
    for command in [&["inbox", "page", file][..], &["listen", "--port", "0", "--inbox", file]] {
        let mut tool = tool(["--json"]);
        let (mut running, started) =
            Running::start(tool.args(command).env("ARTICLE_WEBHOOK_TOKEN", TOKEN));
        let mut stream = events(started["page"].as_str().unwrap()).await;
        running.interrupt();
        let ended = spawn_blocking(move || running.ended());
        assert_eq!(ended.await.unwrap(), Some(0), "{command:?}");
        // The stream ends as a stream does, and is not cut off.
        while let Some(_chunk) = timeout(TIMEOUT, stream.chunk()).await.unwrap().unwrap() {}
    }
}
