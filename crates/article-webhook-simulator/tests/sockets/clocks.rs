use std::time::{Duration, Instant};

use article_webhook_simulator::{Simulator, SimulatorClock};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::sleep,
};

use crate::receiver::Receiver;

const TOKEN: &str = "Bearer secret";
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn deliveries_arrive_in_order_of_time() {
    let receiver = Receiver::start(&[500; 7]).await;
    let simulator = Simulator::builder()
        .clock(SimulatorClock::stepped())
        .publish_target(&receiver.url, TOKEN)
        .start()
        .await
        .unwrap();
    for _ in 0..20 {
        simulator.order("Shoes").await.unwrap();
    }
    simulator.advance(HOUR).await;
    let attempts = simulator.attempts();
    assert!(attempts.is_sorted_by_key(|attempt| attempt.at));
    let came: Vec<_> =
        receiver.came().iter().map(|one| one.headers["x-service-job-id"].clone()).collect();
    let sent: Vec<_> = attempts.iter().map(|attempt| attempt.job_id.clone()).collect();
    assert_eq!(came, sent);
}

#[tokio::test]
async fn an_accelerated_clock_delivers_and_retries_by_itself() {
    for concurrency in [1, 64] {
        let receiver = Receiver::start(&[500, 500]).await;
        let simulator = Simulator::builder()
            .clock(SimulatorClock::accelerated(1000))
            .concurrency(concurrency)
            .publish_target(&receiver.url, TOKEN)
            .start()
            .await
            .unwrap();
        sleep(Duration::from_millis(20)).await; // the engine is idle, and waits for a call
        let job = simulator.order("Shoes").await.unwrap();
        let start = Instant::now();
        while simulator.attempts().len() < 3 {
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", simulator.attempts());
            sleep(Duration::from_millis(5)).await;
        }
        let attempts = simulator.attempts();
        assert!(attempts[0].at >= job.ends_at);
        assert!(attempts[1].at >= attempts[0].at + Duration::from_secs(10));
        assert!(attempts[2].at >= attempts[1].at + Duration::from_secs(60));
    }
}

#[tokio::test]
async fn dropping_it_shuts_it_down() {
    let simulator = Simulator::builder().start().await.unwrap();
    let address = simulator.base_url().trim_start_matches("http://").to_owned();
    assert!(TcpStream::connect(&address).await.is_ok());
    drop(simulator);
    let start = Instant::now();
    while TcpStream::connect(&address).await.is_ok() {
        assert!(start.elapsed() < Duration::from_secs(5));
        sleep(Duration::from_millis(5)).await;
    }
}

/// A page of another origin whose name was resolved to this machine sends its own name.
#[tokio::test]
async fn a_call_by_another_name_than_this_machines_is_refused() {
    let simulator = Simulator::builder().start().await.unwrap();
    let address = simulator.base_url().trim_start_matches("http://").to_owned();
    for (host, status) in [
        (&*address, 401),
        ("localhost", 401),
        ("[::1]:8080", 401),
        ("rebound.example", 421),
        ("127.0.0.1.rebound.example", 421),
        ("", 421),
    ] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request =
            format!("GET /v1/jobs/job_1 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host:?}: {answer}");
        assert!(status == 401 || answer.ends_with("call it by localhost or 127.0.0.1\n"));
    }
}
