use serde::Serialize;

/// What one case came to.
///
/// ```no_run
/// # async fn check() -> Result<(), article_simulator::check::CheckError> {
/// use article_simulator::check::{Verdict, check_receiver};
///
/// let report = check_receiver("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38").await?;
/// for finding in report.findings.iter().filter(|finding| finding.verdict == Verdict::Fail) {
///     println!("{}: expected {}, {} came; {}", finding.name, finding.expected, finding.came, finding.fix);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // there may be more to say
pub struct Finding {
    /// The name of the case, the same in every run.
    pub name: &'static str,
    /// How it went.
    pub verdict: Verdict,
    /// What was sent, in a line.
    pub sent: &'static str,
    /// What should come.
    pub expected: String,
    /// What the service would do next, or what else it would mean.
    pub why: &'static str,
    /// What came. Nothing that the receiver wrote is quoted.
    pub came: String,
    /// What to do about it.
    pub fix: &'static str,
}

/// How a case went.
///
/// ```
/// use article_simulator::check::Verdict;
///
/// assert!(Verdict::Pass < Verdict::Advice && Verdict::Advice < Verdict::Fail);
/// assert_eq!(Verdict::Fail.to_string(), "FAIL");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums)] // a case passes, or it does not, or nobody is hurt by it
pub enum Verdict {
    /// As it should be.
    Pass,
    /// Not as it should be, but no article is lost or forged by it.
    Advice,
    /// An article may be lost, taken twice or forged.
    Fail,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Advice => "advice",
            Self::Fail => "FAIL",
        })
    }
}
