mod builder;
mod clock;
mod engine;
mod error;
mod http_service;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::task::JoinSet;

pub use builder::SimulatorBuilder;
pub use clock::SimulatorClock;
pub use error::{CallError, StartError};

use crate::{Attempt, Call, Rule, SimulatedJob};
use engine::Engine;

/// The article generation service, on a port of this machine.
///
/// Orders become jobs, jobs become deliveries, and deliveries are retried as the document says. Everything random comes
/// from one seed. Dropping the simulator shuts it down.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::time::Duration;
/// use article_webhook_simulator::{SimulatorClock, Simulator};
/// use axum::{Router, http::StatusCode, routing::post};
///
/// // A receiver that always fails.
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let url = format!("http://{}/", listener.local_addr()?);
/// let app = Router::new().route("/", post(|| async { StatusCode::SERVICE_UNAVAILABLE }));
/// tokio::spawn(async move { axum::serve(listener, app).await });
///
/// let simulator = Simulator::builder()
///     .seed(7)
///     .clock(SimulatorClock::stepped())
///     .credits(10)
///     .publish_target(&url, "Bearer secret")
///     .start().await?;
/// let job = simulator.order("Shoes").await?;
/// simulator.advance(Duration::from_secs(24 * 3600)).await;
///
/// let times: Vec<_> = simulator.attempts().iter().map(|attempt| attempt.at - job.ends_at).collect();
/// assert_eq!(times, [0, 10, 70, 370].map(Duration::from_secs));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc = ""]
#[doc = include_str!("simulator/choices.md")]
#[derive(Debug)]
pub struct Simulator {
    engine: Arc<Engine>,
    address: SocketAddr,
    api_key: String,
    /// Dropping them ends the server and the engine.
    _tasks: JoinSet<()>,
}

impl Simulator {
    /// Settings for a simulator.
    pub fn builder() -> SimulatorBuilder {
        SimulatorBuilder::default()
    }

    /// The part of the URLs before `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The simulated time since the start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.engine.now()
    }

    /// Moves a stepped clock, and carries out everything that becomes due, in order of time. Returns when the last
    /// attempt has ended.
    ///
    /// # Panics
    ///
    /// The clock is not `SimulatorClock::stepped()`.
    pub async fn advance(&self, by: Duration) {
        self.engine.advance(by).await;
    }

    /// Orders an article with the first API key, without a socket. Faults and limits apply.
    ///
    /// # Errors
    ///
    /// The API refused the order.
    pub async fn order(&self, topic: &str) -> Result<SimulatedJob, CallError> {
        let request = Request::post("/v1/content/articles")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.api_key))
            .header(header::CONTENT_TYPE, "application/json")
            .body(json!({ "topic": topic }).to_string().into());
        let request = request.map_err(|_| CallError::new(StatusCode::UNAUTHORIZED, ""))?;
        let response = self.call(request).await;
        let created: Option<Value> = serde_json::from_slice(response.body()).ok();
        let job_id = created.as_ref().and_then(|body| body.get("job_id")?.as_str());
        let job = job_id.and_then(|id| self.engine.with(|service, now| service.job(now, id)));
        let body = String::from_utf8_lossy(response.body());
        job.ok_or_else(|| CallError::new(response.status(), &body))
    }

    /// Makes any call of the API without a socket.
    pub async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.engine.call(&request).await
    }

    /// The latest attempts at deliveries, oldest first.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.engine.with(|service, _| service.attempts())
    }

    /// Returns the latest attempts, oldest first, and removes them.
    #[must_use = "what is drained is gone"]
    pub fn drain_attempts(&self) -> Vec<Attempt> {
        self.engine.with(|service, _| service.drain_attempts())
    }

    /// Returns the latest calls of the API, oldest first, and removes them. As many are kept as attempts.
    #[must_use = "what is drained is gone"]
    pub fn drain_calls(&self) -> Vec<Call> {
        self.engine.with(|service, _| service.drain_calls())
    }

    /// All jobs, in the order in which they were ordered.
    #[must_use]
    pub fn jobs(&self) -> Vec<SimulatedJob> {
        self.engine.with(|service, now| service.jobs(now))
    }

    /// The job with this id.
    #[must_use]
    pub fn job(&self, job_id: &str) -> Option<SimulatedJob> {
        self.engine.with(|service, now| service.job(now, job_id))
    }

    /// The remaining credits of a key.
    #[must_use]
    pub fn credits(&self, api_key: &str) -> Option<u64> {
        self.engine.with(|service, _| service.credits(api_key))
    }

    /// Replaces the rules for faults. Deliveries that are scheduled keep their faults.
    pub fn set_faults(&self, faults: Vec<Rule>) {
        self.engine.with(|service, _| service.set_faults(faults));
    }
}
