use std::fmt;

use serde::Serialize;

/// The result of one case.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_webhook_check::{Verdict, check_receiver};
/// use axum::Router;
///
/// // An application without a receiver answers 404 to everything.
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let url = format!("http://{}/webhooks/articles", listener.local_addr()?);
/// tokio::spawn(async { axum::serve(listener, Router::new()).await });
///
/// let report = check_receiver(&url, "Bearer 5f2b9c0e7a1d4e38").await?;
/// let find = |name| report.findings.iter().find(|finding| finding.name == name).unwrap();
/// assert_eq!(find("a delivery").verdict, Verdict::Fail);
/// assert_eq!(find("a delivery").expected, "2xx");
/// assert_eq!(find("a delivery").received.split(' ').next(), Some("404"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // a finding may get more details
pub struct CheckFinding {
    /// The name of the case, the same in every run.
    pub name: &'static str,
    /// Whether the receiver passed.
    pub verdict: Verdict,
    /// What was sent, in one line.
    pub sent: &'static str,
    /// The expected response.
    pub expected: String,
    /// Why the case matters: what the service does next, or what the response means.
    pub why: &'static str,
    /// The actual response. It quotes nothing that the receiver wrote.
    pub received: String,
    /// How to fix the receiver.
    pub fix: &'static str,
}

/// Whether the receiver passed a case.
///
/// ```
/// use article_webhook_check::Verdict;
///
/// assert!(Verdict::Pass < Verdict::Advice && Verdict::Advice < Verdict::Fail);
/// assert_eq!(Verdict::Fail.to_string(), "FAIL");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "a case passes, fails, or does no harm")]
pub enum Verdict {
    /// The response is as expected.
    Pass,
    /// The response is not as expected, but no article is lost or forged by it.
    Advice,
    /// An article may be lost, stored twice or forged.
    Fail,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Advice => "advice",
            Self::Fail => "FAIL",
        })
    }
}
