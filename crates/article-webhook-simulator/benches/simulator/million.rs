use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use article_webhook_simulator::{
    DeliveryOutcome, Fault, Push, Rule, Sender, Sending, Simulator, SimulatorClock, StatusCode,
};

use crate::{peak_memory, processor_time};

const JOBS: u64 = 1_000_000;
const LONGEST: Duration = Duration::from_secs(60);
/// In MiB. A million bodies alone would take a dozen times as much.
const MOST_MEMORY: u64 = 512;

/// A receiver without sockets. It generates each request, and refuses one first attempt in ten.
#[derive(Debug, Default)]
struct Receiver {
    attempts: AtomicU64,
    bytes: AtomicU64,
    stored: Vec<AtomicBool>,
}

impl Sender for Receiver {
    fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
        let request = push.request();
        let attempt = self.attempts.fetch_add(1, Relaxed);
        self.bytes.fetch_add(request.body().len() as u64, Relaxed);
        let is_refused = push.attempt() == 1 && attempt.is_multiple_of(10);
        if !is_refused {
            let number = push.job_id().rsplit('_').next().and_then(|number| number.parse().ok());
            let number: usize = number.expect("an id ends with its number");
            self.stored[number - 1].store(true, Relaxed);
        }
        let status = if is_refused { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        Box::pin(async move { DeliveryOutcome::status(status) })
    }
}

pub(crate) async fn run() {
    let stored = (0..JOBS).map(|_| AtomicBool::new(false)).collect();
    let receiver = Arc::new(Receiver { stored, ..Receiver::default() });
    let simulator = Simulator::builder()
        .seed(7)
        .clock(SimulatorClock::stepped())
        .credits(JOBS)
        .publish_target("http://receiver.test/", "Bearer secret")
        .fault(Rule::new(Fault::AnswerLost).attempt(1).probability(0.01))
        .sender(receiver.clone())
        .start()
        .await
        .unwrap();
    let start = Instant::now();
    for _ in 0..JOBS / 1000 {
        for _ in 0..1000 {
            simulator.order("How to choose running shoes").await.unwrap();
        }
        simulator.advance(Duration::from_secs(20)).await;
    }
    simulator.advance(Duration::from_secs(3600)).await;
    let took = start.elapsed();
    let memory = peak_memory();
    let attempts = receiver.attempts.load(Relaxed);
    println!(
        "simulator: million: {JOBS} jobs, {attempts} attempts, {} MB of bodies, {} s simulated: {:.1} s, {:.1} s of processor, peak {} MiB",
        receiver.bytes.load(Relaxed) / 1_000_000,
        simulator.now().as_secs(),
        took.as_secs_f64(),
        processor_time().as_secs_f64(),
        memory.map_or("?".to_owned(), |memory| memory.to_string()),
    );
    assert!(receiver.stored.iter().all(|stored| stored.load(Relaxed)), "a job was not delivered");
    assert!(attempts > JOBS + JOBS / 10, "retries are missing");
    assert!(took < LONGEST, "it was to take less than {LONGEST:?}");
    assert!(memory.is_none_or(|memory| memory < MOST_MEMORY), "more than {MOST_MEMORY} MiB");
}
