use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use serde::Serialize;

use crate::{
    Fault,
    fault::spoiled,
    service::{content::Recipe, delivery::Delivery},
};

const EVENT: HeaderName = HeaderName::from_static("x-service-event");
const JOB_ID: HeaderName = HeaderName::from_static("x-service-job-id");

/// One attempt at one delivery, to be carried out now.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::{sync::{Arc, Mutex}, time::Duration};
/// use article_simulator::{Clock, Outcome, Push, Sender, Sending, Simulator};
///
/// /// A receiver without a socket, which refuses everything.
/// #[derive(Default)]
/// struct Refusing(Mutex<Vec<u8>>);
///
/// impl Sender for Refusing {
///     fn send<'a>(&'a self, push: &'a Push) -> Sending<'a> {
///         assert_eq!(push.request().headers()["x-service-job-id"], push.job_id());
///         self.0.lock().unwrap().push(push.attempt());
///         Box::pin(async { Outcome::status(503) })
///     }
/// }
///
/// let refusing = Arc::new(Refusing::default());
/// let simulator = Simulator::builder()
///     .clock(Clock::stepped())
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
    /// When it was handed out.
    pub(crate) at: Duration,
    pub(crate) delivery: Delivery,
    pub(crate) recipe: Recipe,
}

impl Push {
    /// The job whose article it is.
    ///
    /// ```
    /// fn is_about(push: &article_simulator::Push, job_id: &str) -> bool {
    ///     push.job_id() == job_id
    /// }
    /// ```
    #[must_use]
    pub fn job_id(&self) -> &str {
        &self.recipe.job_id
    }

    /// The URL, as it was configured or ordered.
    ///
    /// ```
    /// fn is_local(push: &article_simulator::Push) -> bool {
    ///     push.url().starts_with("http://127.0.0.1")
    /// }
    /// ```
    #[must_use]
    pub fn url(&self) -> &str {
        &self.delivery.target.url
    }

    /// Which attempt it is: 1 to 4.
    ///
    /// ```
    /// fn is_last(push: &article_simulator::Push) -> bool {
    ///     push.attempt() == 4
    /// }
    /// ```
    #[must_use]
    pub fn attempt(&self) -> u8 {
        self.delivery.attempt
    }

    /// What is wrong with it.
    ///
    /// ```
    /// use article_simulator::{Fault, Push};
    ///
    /// fn is_forged(push: &Push) -> bool {
    ///     push.faults().contains(&Fault::WrongToken)
    /// }
    /// ```
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.delivery.faults
    }

    /// What is sent (document, section 6.1), with its faults.
    ///
    /// ```
    /// fn length(push: &article_simulator::Push) -> usize {
    ///     push.request().body().len() // made anew each time
    /// }
    /// ```
    #[must_use]
    pub fn request(&self) -> Request<Bytes> {
        let body = self.delivery.faults.iter().copied().fold(self.recipe.body(), spoiled);
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

    /// How it is sent. A sender without a socket may well not care.
    ///
    /// ```
    /// use article_simulator::{Manner, Push};
    ///
    /// fn arrives(push: &Push) -> bool {
    ///     push.manner() != Manner::Cut
    /// }
    /// ```
    #[must_use]
    pub fn manner(&self) -> Manner {
        let manner = self.delivery.faults.iter().find_map(|fault| match fault {
            Fault::Chunked => Some(Manner::Chunked),
            Fault::Slow(time) => Some(Manner::Slow(*time)),
            Fault::Cut => Some(Manner::Cut),
            _ => None,
        });
        manner.unwrap_or(Manner::Whole)
    }
}

const WRONG_TOKEN: &str = "Bearer not-the-token-of-this-target";

fn value(job_id: &str) -> HeaderValue {
    HeaderValue::from_str(job_id).expect("a job id of ours is ASCII")
}

/// Neither the token, nor the path, nor the article.
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

/// How the body of a [`Push`] travels.
///
/// ```
/// use article_simulator::Manner;
///
/// fn is_broken_off(manner: Manner) -> bool {
///     matches!(manner, Manner::Cut)
/// }
/// assert!(!is_broken_off(Manner::Whole));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// At once, with its length.
    Whole,
    /// At once, in chunks.
    Chunked,
    /// With its length, over so much real time.
    Slow(Duration),
    /// With its length, and only half of it comes.
    Cut,
}

/// What became of a [`Push`].
///
/// ```
/// use article_simulator::Outcome;
///
/// assert!(Outcome::status(204).is_success());
/// assert!(!Outcome::status(302).is_success()); // redirects are not followed
/// assert!(!Outcome::failed("connection refused").is_success());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The answer, or why there was none.
    pub answer: Result<Answer, String>,
    /// How long it took, in real time.
    pub took: Duration,
}

impl Outcome {
    /// An answer without a body, at once.
    ///
    /// ```
    /// assert_eq!(article_simulator::Outcome::status(200).answer.unwrap().status, 200);
    /// ```
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { answer: Ok(Answer { status, start: String::new() }), took: Duration::ZERO }
    }

    /// No answer.
    ///
    /// ```
    /// assert!(article_simulator::Outcome::failed("connection refused").answer.is_err());
    /// ```
    #[must_use]
    pub fn failed(why: &str) -> Self {
        Self { answer: Err(why.to_owned()), took: Duration::ZERO }
    }

    /// Whether it was 2xx (document, section 6.2).
    ///
    /// ```
    /// assert!(!article_simulator::Outcome::status(400).is_success());
    /// ```
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.answer.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status))
    }
}

/// What a receiver answered.
///
/// ```
/// let answer = article_simulator::Outcome::status(401).answer.unwrap();
/// assert_eq!((answer.status, &*answer.start), (401, ""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // headers may be told as well
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The first bytes of its body, as text.
    pub start: String,
}
