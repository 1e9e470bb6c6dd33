use std::{fmt, time::Duration};

use serde::Serialize;

use crate::{CheckFinding, Verdict};

/// The findings of a check. `Display` writes one line per case, and the fix below each that did not pass.
/// `Serialize` writes the same for programs.
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
/// assert!(!report.is_conformant());
/// assert!(report.count(Verdict::Fail) > 0);
/// assert!(report.to_string().contains("FAIL    a delivery"));
/// assert!(report.stopped.is_some_and(|cause| cause.starts_with("no receiver is at this path")));
/// assert_eq!(serde_json::to_value(&report)?["findings"][0]["verdict"], "fail");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // a report may get more details
pub struct CheckReport {
    /// Scheme, host and port of the receiver, without the path, which may be a secret.
    pub receiver: String,
    /// One finding per case, in the order of the run.
    pub findings: Vec<CheckFinding>,
    /// Why the check ended early: what explains the failures until then explains all others.
    pub stopped: Option<&'static str>,
    /// How long the check took; serialised as `milliseconds`.
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub duration: Duration,
}

impl CheckReport {
    /// Whether no case failed. There may be advice.
    #[must_use]
    pub fn is_conformant(&self) -> bool {
        self.count(Verdict::Fail) == 0
    }

    /// The number of cases with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == verdict).count()
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.receiver)?;
        let widths = self.findings.iter().map(|finding| finding.name.chars().count());
        let width = widths.max().unwrap_or_default();
        for CheckFinding { name, verdict, sent, expected, why, received, fix } in &self.findings {
            writeln!(f, "  {verdict:<6}  {name:<width$}  {received}")?;
            if *verdict != Verdict::Pass {
                for (label, text) in
                    [("sent", *sent), ("expected", expected), ("because", why), ("fix", fix)]
                {
                    writeln!(f, "            {label:<8}  {text}")?;
                }
            }
        }
        if let Some(cause) = self.stopped {
            writeln!(f, "\nstopped here, because every other case would fail as well:\n  {cause}")?;
        }
        let [passed, advice, failed] =
            [Verdict::Pass, Verdict::Advice, Verdict::Fail].map(|verdict| self.count(verdict));
        let seconds = self.duration.as_secs_f64();
        write!(f, "\n{passed} passed, {failed} failed, {advice} with advice, in {seconds:.1} s")
    }
}

fn milliseconds<S: serde::Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
