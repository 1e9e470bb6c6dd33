use std::{fmt, io};

use article_webhook::adapter::Causes;
use http::StatusCode;

use crate::InvalidTarget;

/// Why a simulator cannot start.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use article_webhook_simulator::Simulator;
///
/// let error = Simulator::builder().publish_target("receiver.test", "Bearer secret").start().await.unwrap_err();
/// assert_eq!(error.to_string(), "the target's url is not an http or https URL: give the whole URL, with scheme and host");
/// assert_eq!(format!("{error:?}"), error.to_string()); // what `main` shows when it returns the error
/// # });
/// ```
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct StartError(Kind);

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
    }
}

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error(transparent)]
    Target(InvalidTarget),
    #[error("{0}")]
    Setting(&'static str),
    #[error("the simulator cannot listen on port {port} of 127.0.0.1: is it in use?")]
    Bind { port: u16, source: io::Error },
}

impl StartError {
    pub(crate) fn setting(message: &'static str) -> Self {
        Self(Kind::Setting(message))
    }

    pub(crate) fn bind(port: u16, source: io::Error) -> Self {
        Self(Kind::Bind { port, source })
    }
}

impl From<InvalidTarget> for StartError {
    fn from(invalid: InvalidTarget) -> Self {
        Self(Kind::Target(invalid))
    }
}

/// The error response to an order.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_webhook_simulator::Simulator;
///
/// let error = Simulator::builder().start().await?.order("Shoes").await.unwrap_err();
/// assert_eq!(error.status(), 400);
/// assert!(error.to_string().contains("POST /v1/config/brand"));
/// assert_eq!(format!("{error:?}"), error.to_string()); // what `main` shows when it returns the error
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the simulator answered {}: {body}", .status.as_u16())]
pub struct CallError {
    status: StatusCode,
    body: String,
}

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
    }
}

impl CallError {
    pub(crate) fn new(status: StatusCode, body: &str) -> Self {
        Self { status, body: body.to_owned() }
    }

    /// The status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }
}
