use std::{
    env, io,
    io::{BufRead, BufReader, BufWriter, Write},
    process::{Child, Command, Stdio},
    time::Duration,
};

use article_webhook_client::{ApiKey, Client, JobId};
use article_webhook_simulator::{Simulator, SimulatorClock};
use http::Request;

/// The argument that makes this program the service.
pub(crate) const CHILD: &str = "--serve";

const KEY: &str = "sk-simulator";

/// The service, in a process of its own, with that many articles of that many bytes that are complete. It limits no calls.
#[derive(Debug)]
pub(crate) struct Service {
    process: Child,
    base_url: String,
    pub(crate) jobs: Vec<JobId>,
}

impl Service {
    pub(crate) fn start(jobs: usize, bytes: usize) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args([CHILD, &jobs.to_string(), &bytes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        let base_url = lines.next().unwrap().unwrap();
        let jobs = lines.take(jobs).map(|line| line.unwrap().parse().unwrap()).collect();
        Self { process, base_url, jobs }
    }

    /// A client with connections of its own.
    pub(crate) fn client(&self) -> Client {
        Client::new(ApiKey::new(KEY).unwrap(), &self.base_url).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Serves on a free port, which it prints, and then the ids of the jobs. It stops when standard input ends, so that no
/// server outlives the benchmark.
pub(crate) fn serve(jobs: usize, bytes: &str) {
    crate::runtime().block_on(async {
        let simulator = Simulator::builder()
            .clock(SimulatorClock::stepped())
            .generation(Duration::ZERO..=Duration::ZERO)
            .brand("brand_1")
            .credits(jobs as u64)
            .start()
            .await
            .unwrap();
        for _ in 0..jobs {
            let order = Request::post("/v1/content/articles")
                .header("Authorization", format!("Bearer {KEY}"))
                .header("Content-Type", "application/json")
                .body(
                    format!(r#"{{"topic":"How to choose running shoes","bytes":{bytes}}}"#).into(),
                );
            assert_eq!(simulator.call(order.unwrap()).await.status(), 202);
        }
        simulator.advance(Duration::ZERO).await;
        let mut out = BufWriter::new(io::stdout());
        writeln!(out, "{}", simulator.base_url()).unwrap();
        for job in simulator.jobs() {
            writeln!(out, "{}", job.job_id).unwrap();
        }
        out.flush().unwrap();
        let ended = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
        ended.await.unwrap().unwrap();
    });
}
