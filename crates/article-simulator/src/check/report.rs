use std::{fmt, time::Duration};

use serde::Serialize;

use super::{Finding, Verdict};

/// What a run found: one line a case when it is displayed, and the fix below each that went wrong. Serialised, it
/// is the same for programs.
///
/// ```no_run
/// # async fn check() -> Result<(), Box<dyn std::error::Error>> {
/// use article_simulator::check::check_receiver;
///
/// let report = check_receiver("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38").await?;
/// println!("{report}");
/// std::fs::write("report.json", serde_json::to_string_pretty(&report)?)?;
/// assert!(report.is_conformant());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // there may be more to say
pub struct Report {
    /// Scheme, host and port of the receiver; its path may be a secret.
    pub receiver: String,
    /// One per case, in the order they are told.
    pub findings: Vec<Finding>,
    /// How long the run took.
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub duration: Duration,
}

impl Report {
    /// Whether no case failed. There may be advice.
    ///
    /// ```no_run
    /// # async fn check() -> Result<(), article_simulator::check::CheckError> {
    /// # use article_simulator::check::{Verdict, check_receiver};
    /// let report = check_receiver("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38").await?;
    /// assert_eq!(report.is_conformant(), report.count(Verdict::Fail) == 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_conformant(&self) -> bool {
        self.count(Verdict::Fail) == 0
    }

    /// How many cases went like that.
    ///
    /// ```no_run
    /// # async fn check() -> Result<(), article_simulator::check::CheckError> {
    /// # use article_simulator::check::{Verdict, check_receiver};
    /// let report = check_receiver("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38").await?;
    /// println!("{} of {} passed", report.count(Verdict::Pass), report.findings.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == verdict).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.receiver)?;
        let widths = self.findings.iter().map(|finding| finding.name.chars().count());
        let width = widths.max().unwrap_or_default();
        for Finding { name, verdict, sent, expected, why, came, fix } in &self.findings {
            writeln!(f, "  {verdict:<6}  {name:<width$}  {came}")?;
            if *verdict != Verdict::Pass {
                for (label, text) in
                    [("sent", *sent), ("expected", expected), ("because", why), ("fix", fix)]
                {
                    writeln!(f, "            {label:<8}  {text}")?;
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_a_line_a_case_and_the_fix_of_what_went_wrong() {
        let finding = |name, verdict, came: &str| Finding {
            name,
            verdict,
            sent: "the delivery without Authorization",
            expected: "401".to_owned(),
            why: "anybody could deliver",
            came: came.to_owned(),
            fix: "compare the whole header",
        };
        let report = Report {
            receiver: "http://127.0.0.1:3000".to_owned(),
            findings: vec![
                finding("a delivery", Verdict::Pass, "200 in 2 ms"),
                finding("no token", Verdict::Fail, "204 in 1 ms"),
            ],
            duration: Duration::from_millis(1234),
        };
        assert_eq!(
            report.to_string(),
            "http://127.0.0.1:3000\n\
             \n  pass    a delivery  200 in 2 ms\
             \n  FAIL    no token    204 in 1 ms\
             \n            sent      the delivery without Authorization\
             \n            expected  401\
             \n            because   anybody could deliver\
             \n            fix       compare the whole header\
             \n\n1 passed, 1 failed, 0 with advice, in 1.2 s",
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["findings"][1]["verdict"], "fail");
        assert_eq!(json["milliseconds"], 1234);
    }
}
