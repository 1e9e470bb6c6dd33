//! The page of `listen` while a thousand deliveries of 16 KB arrive in each second.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use article_webhook::fixture;
use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::{sync::Semaphore, task::JoinSet, time::sleep};

use crate::{Mark, cookie, running::Running, tool::TOKEN};

const A_SECOND: u32 = 1000;
const SECONDS: u32 = 10;
const BYTES: usize = 16 * 1024;

/// As many connections as a service has that does not wait.
const AT_ONCE: usize = 64;

/// What is promised.
const SOON: Duration = Duration::from_secs(1);
const MOST_MEMORY: u64 = 64 << 20;

/// As the script of the page: it reads again at most this often.
const LEAST: Duration = Duration::from_millis(200);

pub(crate) async fn run(http: &Client) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let mut listening = Running::listen(&file);
    // It prints a line for each delivery.
    let lines = listening.process.lines.take().unwrap();
    thread::spawn(move || lines.for_each(drop));
    let body = body();

    // Warm: the first page, and the first deliveries.
    let cookie = cookie(&listening, http).await;
    for number in 0..100 {
        let status = deliver(http, &listening.receiver, &body, number).await;
        assert_eq!(status, StatusCode::OK);
    }
    sleep(Duration::from_secs(1)).await;
    let before = listening.memory().unwrap();

    let seen = Arc::new(Mutex::new(Vec::new()));
    let reader =
        tokio::spawn(read(http.clone(), listening.base.clone(), cookie, Arc::clone(&seen)));
    let (answered, most_memory) = send(http, &listening, &body).await;
    sleep(SOON).await;
    reader.abort();

    let first = answered.iter().map(|(_, at)| *at).min().unwrap();
    let last = answered.iter().map(|(_, at)| *at).max().unwrap();
    let rate = answered.len() as f64 / last.duration_since(first).as_secs_f64();
    let seen = seen.lock().unwrap();
    let mut delays: Vec<_> = answered
        .iter()
        .map(|(number, at)| {
            let shown = seen.iter().find(|(newest, shown)| newest >= number && shown >= at);
            shown.map_or(Duration::MAX, |(_, shown)| shown.duration_since(*at))
        })
        .collect();
    delays.sort();
    let (median, longest) = (delays[delays.len() / 2], delays[delays.len() - 1]);
    let more = most_memory.saturating_sub(before);
    let is_fast = rate >= 0.95 * f64::from(A_SECOND);
    let is_live = longest <= SOON;
    let is_small = more <= MOST_MEMORY;
    println!(
        "the page of `listen`, deliveries of {BYTES} bytes for {SECONDS} s, {} readings of the page",
        seen.len()
    );
    let [fast, live, small] = [is_fast, is_live, is_small].map(|is_kept| Mark { is_kept });
    println!(
        "page: live: {rate:.0} of {A_SECOND} a second {fast}, seen after {median:.0?}, at most {longest:.0?} {live}; {} MiB \
         more {small}",
        more >> 20
    );
    is_fast && is_live && is_small
}

/// An article of the size, in which the job id is to be replaced.
fn body() -> String {
    let complete = fixture::complete();
    let mut article: Value = serde_json::from_slice(complete.bytes()).unwrap();
    let job = article["job_id"].as_str().unwrap().to_owned();
    let pad = BYTES - article.to_string().len();
    let html = &mut article["article"]["html"];
    *html = format!("{}<p>{}</p>", html.as_str().unwrap(), "a ".repeat(pad / 2)).into();
    article.to_string().replace(&job, "JOB_ID")
}

async fn deliver(http: &Client, url: &str, body: &str, number: u32) -> StatusCode {
    let job = format!("job_{number:08}");
    let post = http.post(url).body(body.replace("JOB_ID", &job));
    let post = post.header("Authorization", TOKEN).header("Content-Type", "application/json");
    let post = post.header("X-Service-Event", "article.complete").header("X-Service-Job-Id", job);
    post.send().await.unwrap().status()
}

/// Each delivery that was stored, and when it was answered; and the most memory.
async fn send(http: &Client, listening: &Running, body: &str) -> (Vec<(u32, Instant)>, u64) {
    let (start, free) = (Instant::now(), Arc::new(Semaphore::new(AT_ONCE)));
    let mut sending = JoinSet::new();
    let mut most = 0;
    for number in 0..A_SECOND * SECONDS {
        let due = start + Duration::from_secs(1) * number / A_SECOND;
        // A sleep lasts a millisecond or two, however short it is: what became due meanwhile follows without one.
        let pause = due.saturating_duration_since(Instant::now());
        if !pause.is_zero() {
            sleep(pause).await;
        }
        if number % 100 == 0 {
            most = most.max(listening.memory().unwrap());
        }
        let permit = Arc::clone(&free).acquire_owned().await.unwrap();
        let (http, url, body) = (http.clone(), listening.receiver.clone(), body.to_owned());
        sending.spawn(async move {
            let number = 1000 + number;
            let status = deliver(&http, &url, &body, number).await;
            drop(permit);
            assert_eq!(status, StatusCode::OK);
            (number, Instant::now())
        });
    }
    let answered = sending.join_all().await;
    (answered, most.max(listening.memory().unwrap()))
}

/// Reads the page as its script does: at each event, but not too often. Keeps the newest delivery that it showed.
async fn read(http: Client, base: String, cookie: String, seen: Arc<Mutex<Vec<(u32, Instant)>>>) {
    let events = http.get(format!("{base}/events")).header("Cookie", &cookie);
    let mut events = events.send().await.unwrap();
    while events.chunk().await.unwrap().is_some() {
        let start = Instant::now();
        let page = http.get(format!("{base}/")).header("Cookie", &cookie).send().await.unwrap();
        let page = page.text().await.unwrap();
        let numbers = page.split("job_").skip(1).filter_map(|text| text.get(..8)?.parse().ok());
        if let Some(newest) = numbers.max() {
            seen.lock().unwrap().push((newest, Instant::now()));
        }
        sleep(LEAST.max(3 * start.elapsed())).await;
    }
}
