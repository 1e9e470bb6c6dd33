mod builder;
mod engine;
mod error;
mod front;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, header};
use serde_json::{Value, json};
use tokio::task::JoinSet;

pub use builder::SimulatorBuilder;
pub use error::{CallError, StartError};

use crate::{Attempt, Job, Rule};
use engine::Engine;

/// The API key of whoever sets none.
pub(crate) const API_KEY: &str = "sk-simulator";

/// The article generation service, on a port of this machine.
///
/// Ordered articles become jobs, jobs become deliveries, deliveries are repeated as the document says, and
/// everything that is drawn at random comes from one seed. Dropping it shuts it down.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::time::Duration;
/// use article_simulator::{Clock, Simulator};
/// use axum::{Router, http::StatusCode, routing::post};
///
/// // A receiver that is out of order.
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let url = format!("http://{}/", listener.local_addr()?);
/// let app = Router::new().route("/", post(|| async { StatusCode::SERVICE_UNAVAILABLE }));
/// tokio::spawn(async move { axum::serve(listener, app).await });
///
/// let simulator = Simulator::builder()
///     .seed(7)
///     .clock(Clock::stepped())
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
#[derive(Debug)]
pub struct Simulator {
    engine: Arc<Engine>,
    address: SocketAddr,
    api_key: String,
    /// They end with it.
    _tasks: JoinSet<()>,
}

impl Simulator {
    /// Settings for a simulator.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().seed(7).api_key("sk-1").credits(10);
    /// # let _ = settings;
    /// ```
    pub fn builder() -> SimulatorBuilder {
        SimulatorBuilder::default()
    }

    /// What stands in front of `/v1`.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// let simulator = Simulator::builder().start().await?;
    /// assert!(simulator.base_url().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The simulated time since the start.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use {article_simulator::{Clock, Simulator}, std::time::Duration};
    /// let simulator = Simulator::builder().clock(Clock::stepped()).start().await?;
    /// assert_eq!(simulator.now(), Duration::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn now(&self) -> Duration {
        self.engine.now()
    }

    /// Moves a stepped clock, and carries out everything that falls due on the way, in order of time. It is done
    /// when the last attempt has been answered.
    ///
    /// # Panics
    ///
    /// The clock runs by itself: give the builder `Clock::stepped()`.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use {article_simulator::{Clock, JobState, Simulator}, std::time::Duration};
    /// let simulator = Simulator::builder().clock(Clock::stepped()).brand("brand_1").start().await?;
    /// simulator.order("Shoes").await?;
    /// simulator.advance(Duration::from_secs(180)).await;
    /// assert_eq!(simulator.jobs()[0].state, JobState::Complete);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn advance(&self, by: Duration) {
        self.engine.advance(by).await;
    }

    /// Orders an article in the name of the first API key, without a socket. It takes part in everything else,
    /// faults and limits included.
    ///
    /// # Errors
    ///
    /// What the API answers other than that there is a job.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// let simulator = Simulator::builder().brand("brand_1").credits(1).start().await?;
    /// assert_eq!(simulator.order("Shoes").await?.topic, "Shoes");
    /// assert_eq!(simulator.order("Hats").await.unwrap_err().status(), 402);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn order(&self, topic: &str) -> Result<Job, CallError> {
        let request = Request::post("/v1/content/articles")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.api_key))
            .header(header::CONTENT_TYPE, "application/json")
            .body(json!({ "topic": topic }).to_string().into());
        let request = request.map_err(|_| CallError::new(401, ""))?;
        let response = self.call(request).await;
        let created: Option<Value> = serde_json::from_slice(response.body()).ok();
        let job_id = created.as_ref().and_then(|body| body.get("job_id")?.as_str());
        let job = job_id.and_then(|id| self.engine.with(|service, now| service.job(now, id)));
        let body = String::from_utf8_lossy(response.body());
        job.ok_or_else(|| CallError::new(response.status().as_u16(), &body))
    }

    /// Makes any call of the API, without a socket.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// let simulator = Simulator::builder().start().await?;
    /// let request = http::Request::get("/v1/content/articles/job_1").body("".into())?;
    /// assert_eq!(simulator.call(request).await.status(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::needless_pass_by_value)] // requests are made to be given away
    pub async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.engine.call(&request).await
    }

    /// The latest attempts at deliveries, oldest first.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// assert!(Simulator::builder().start().await?.attempts().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.engine.with(|service, _| service.attempts())
    }

    /// The same, and forgets them.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// assert!(Simulator::builder().start().await?.drain_attempts().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "what is drained is gone"]
    pub fn drain_attempts(&self) -> Vec<Attempt> {
        self.engine.with(|service, _| service.drain_attempts())
    }

    /// All jobs, in the order they were taken.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// assert!(Simulator::builder().start().await?.jobs().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn jobs(&self) -> Vec<Job> {
        self.engine.with(|service, now| service.jobs(now))
    }

    /// A job by its id.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// let simulator = Simulator::builder().brand("brand_1").start().await?;
    /// let job = simulator.order("Shoes").await?;
    /// assert_eq!(simulator.job(&job.job_id), Some(job));
    /// assert_eq!(simulator.job("job_1"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn job(&self, job_id: &str) -> Option<Job> {
        self.engine.with(|service, now| service.job(now, job_id))
    }

    /// The credits that a key has left.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// let simulator = Simulator::builder().api_key("sk-1").credits(10).start().await?;
    /// assert_eq!((simulator.credits("sk-1"), simulator.credits("sk-2")), (Some(10), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn credits(&self, api_key: &str) -> Option<u64> {
        self.engine.with(|service, _| service.credits(api_key))
    }

    /// Replaces the rules of what goes wrong. What is on the agenda already keeps its faults.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::{Fault, Rule, Simulator};
    /// let simulator = Simulator::builder().brand("brand_1").start().await?;
    /// simulator.set_faults(vec![Rule::new(Fault::ApiStatus(503))]);
    /// assert_eq!(simulator.order("Shoes").await.unwrap_err().status(), 503);
    ///
    /// simulator.set_faults(Vec::new());
    /// assert!(simulator.order("Shoes").await.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_faults(&self, faults: Vec<Rule>) {
        self.engine.with(|service, _| service.set_faults(faults));
    }
}
