use std::{
    env,
    io::{BufRead, BufReader, Read, stdin},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use article_webhook_simulator::{Simulator, SimulatorClock};
use axum::{Router, body::Bytes, http::StatusCode, routing::post};
use http::Request;
use tokio::net::TcpListener;

/// The argument that makes this program the receiver.
pub(crate) const RECEIVER: &str = "--receiver";

const JOBS: usize = 50_000;
const LEAST: f64 = 5000.0;

pub(crate) async fn run() {
    let mut receiver = Command::new(env::current_exe().unwrap())
        .arg(RECEIVER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(receiver.stdout.take().unwrap()).read_line(&mut url).unwrap();

    let simulator = Simulator::builder()
        .clock(SimulatorClock::stepped())
        .concurrency(64)
        .generation(Duration::ZERO..=Duration::ZERO)
        .credits(JOBS as u64)
        .attempts_kept(JOBS)
        .publish_target(url.trim(), "Bearer secret")
        .start()
        .await
        .unwrap();
    for _ in 0..JOBS {
        let order = Request::post("/v1/content/articles")
            .header("Authorization", "Bearer sk-simulator")
            .header("Content-Type", "application/json")
            .body(r#"{"topic":"How to choose running shoes","bytes":16384}"#.into());
        assert_eq!(simulator.call(order.unwrap()).await.status(), 202);
    }
    let start = Instant::now();
    simulator.advance(Duration::ZERO).await;
    let took = start.elapsed().as_secs_f64();

    let attempts = simulator.attempts();
    let stored = attempts.iter().filter(|attempt| attempt.outcome.is_success()).count();
    drop(receiver.stdin.take()); // ends the receiver
    receiver.wait().unwrap();
    let rate = f64::from(u32::try_from(stored).unwrap()) / took;
    println!(
        "simulator: deliveries: {stored} deliveries of 16 KB over loopback: {took:.1} s, {rate:.0} a second"
    );
    assert_eq!(stored, JOBS, "every delivery arrives");
    assert!(rate >= LEAST, "it was to be {LEAST} a second");
}

/// Accepts whole articles until its standard input ends.
pub(crate) async fn receive() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/", listener.local_addr().unwrap());
    let take = async |body: Bytes| {
        if body.len() > 16_000 { StatusCode::OK } else { StatusCode::BAD_REQUEST }
    };
    let app = Router::new().route("/", post(take));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let ended = tokio::task::spawn_blocking(|| stdin().read_to_end(&mut Vec::new()));
    ended.await.unwrap().unwrap();
}
