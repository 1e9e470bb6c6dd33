//! The check against correct receivers, incorrect receivers, and peers that are not receivers.

mod bounds;
mod planted;
mod right;

use article_webhook_check::{CheckReport, Verdict, check_receiver};

const TOKEN: &str = "Bearer check-5f2b9c0e7a1d4e38";
const PATH: &str = "/webhooks/articles";

async fn check(port: u16) -> CheckReport {
    let report =
        check_receiver(&format!("http://127.0.0.1:{port}{PATH}"), TOKEN).await.expect("it listens");
    let (text, json) =
        (report.to_string(), serde_json::to_string(&report).expect("its keys are strings"));
    assert!(!text.contains("5f2b9c0e7a1d4e38") && !json.contains("5f2b9c0e7a1d4e38"));
    report
}

/// The names of the cases with this verdict.
fn names(report: &CheckReport, verdict: Verdict) -> Vec<&'static str> {
    let findings = report.findings.iter().filter(|finding| finding.verdict == verdict);
    findings.map(|finding| finding.name).collect()
}
