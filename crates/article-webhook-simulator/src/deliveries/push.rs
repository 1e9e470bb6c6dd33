use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header};

use super::{delivery::Delivery, send_mode::SendMode};
use crate::{Fault, faults::corrupt_body, jobs::Recipe};

const EVENT: HeaderName = HeaderName::from_static("x-service-event");
const JOB_ID: HeaderName = HeaderName::from_static("x-service-job-id");

/// One attempt at one delivery, to be made now.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use article_webhook_simulator::{SimulatorClock, DeliveryOutcome, Push, Sender, Sending, Simulator, StatusCode};
///
/// /// A sender without sockets, for a receiver that refuses everything.
/// #[derive(Default)]
/// struct Refusing(Mutex<Vec<u8>>);
///
/// impl Sender for Refusing {
///     fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
///         assert_eq!(push.request().headers()["x-service-job-id"], push.job_id());
///         self.0.lock().unwrap().push(push.attempt());
///         Box::pin(async { DeliveryOutcome::status(StatusCode::SERVICE_UNAVAILABLE) })
///     }
/// }
///
/// let refusing = Arc::new(Refusing::default());
/// let simulator = Simulator::builder()
///     .clock(SimulatorClock::stepped())
///     .publish_target("http://receiver.test/", "Bearer secret")
///     .sender(refusing.clone())
///     .start().await?;
/// simulator.order("Shoes").await?;
/// simulator.advance(Duration::from_secs(3600)).await;
/// assert_eq!(*refusing.0.lock().unwrap(), [1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Push {
    /// When it became due.
    pub(crate) at: Duration,
    pub(crate) delivery: Delivery,
    pub(crate) recipe: Recipe,
}

impl Push {
    /// The job of the article.
    #[must_use]
    pub fn job_id(&self) -> &str {
        &self.recipe.job_id
    }

    /// The URL of the receiver, as it was configured or ordered.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.delivery.target.url
    }

    /// The number of the attempt: 1 to 4.
    #[must_use]
    pub fn attempt(&self) -> u8 {
        self.delivery.attempt
    }

    /// The faults of this attempt.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.delivery.faults
    }

    /// The request with its faults (service document, section 6.1). It is generated at each call.
    #[must_use]
    pub fn request(&self) -> Request<Bytes> {
        let body = self.delivery.faults.iter().copied().fold(self.recipe.body(), corrupt_body);
        let mut request = Request::new(body);
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.delivery.target.uri.clone();
        *request.headers_mut() = self.headers();
        request
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        if let Some(token) = &self.delivery.target.auth_token {
            headers.insert(header::AUTHORIZATION, token.clone());
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(EVENT, HeaderValue::from_static("article.complete"));
        headers.insert(JOB_ID, value(self.job_id()));
        for fault in &self.delivery.faults {
            match fault {
                Fault::MissingToken => {
                    headers.remove(header::AUTHORIZATION);
                }
                Fault::WrongToken => {
                    headers.insert(header::AUTHORIZATION, HeaderValue::from_static(WRONG_TOKEN));
                }
                Fault::UnknownEvent => {
                    headers.insert(EVENT, HeaderValue::from_static("article.updated"));
                }
                Fault::JobIdMismatch => {
                    headers.insert(JOB_ID, value(&format!("{}_other", self.job_id())));
                }
                _ => {}
            }
        }
        headers
    }

    /// How the body is sent. A sender without sockets may ignore it.
    #[must_use]
    pub fn send_mode(&self) -> SendMode {
        let mode = self.delivery.faults.iter().find_map(|fault| match fault {
            Fault::Chunked => Some(SendMode::Chunked),
            Fault::Slow(time) => Some(SendMode::Slow(*time)),
            Fault::Cut => Some(SendMode::Cut),
            _ => None,
        });
        mode.unwrap_or(SendMode::Whole)
    }
}

const WRONG_TOKEN: &str = "Bearer not-the-token-of-this-target";

fn value(job_id: &str) -> HeaderValue {
    HeaderValue::from_str(job_id).expect("the ids of the simulator are ASCII")
}

/// Without the token, the path and the article.
impl fmt::Debug for Push {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Push")
            .field("job_id", &self.recipe.job_id)
            .field("target", &self.delivery.target)
            .field("attempt", &self.delivery.attempt)
            .field("faults", &self.delivery.faults)
            .finish_non_exhaustive()
    }
}
