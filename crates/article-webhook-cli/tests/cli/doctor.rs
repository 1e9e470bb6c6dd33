//! What `doctor` finds, each with real sockets and real files.

mod clocks;
mod disks;
mod inboxes;
mod receivers;
mod tls;

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use crate::tool::{seen, tool};

const TOKEN: &str = "Bearer 0d9c4b7fa3e81625c7";

/// What one run found: the severity of each code, and the fix of those that have one.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) findings: BTreeMap<String, String>,
    pub(crate) fixes: BTreeMap<String, String>,
    pub(crate) out: String,
}

impl Found {
    /// Its severity, or `none`.
    pub(crate) fn of(&self, code: &str) -> &str {
        self.findings.get(code).map_or("none", |severity| severity)
    }

    #[track_caller]
    pub(crate) fn has(&self, code: &str, severity: &str) {
        assert_eq!(self.of(code), severity, "{code}: {self:#?}");
    }

    /// It is found with this fix, and is no more once the fix is done.
    #[track_caller]
    pub(crate) fn is_cured(&self, code: &str, severity: &str, fix: &str, after: &Self) {
        self.has(code, severity);
        assert_eq!(self.fixes.get(code).map(|fix| &**fix), Some(fix), "{code}: {self:#?}");
        assert_eq!(after.fixes.get(code), None, "{code}: {after:#?}");
    }
}

/// The tool with `doctor --json` and a sound token.
pub(crate) fn doctor(arguments: &[&str]) -> Command {
    let mut doctor = tool(["doctor", "--json"]);
    doctor.args(arguments).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    doctor
}

#[track_caller]
pub(crate) fn found(doctor: &mut Command) -> Found {
    let (exit, out, error) = seen(&doctor.output().unwrap());
    assert_eq!(error, "", "{out}");
    let (mut findings, mut fixes) = (BTreeMap::new(), BTreeMap::new());
    for line in out.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        let Some(code) = finding["code"].as_str() else { continue };
        let severity = finding["severity"].as_str().unwrap();
        // Each fault has a fix.
        if matches!(severity, "warn" | "fail") {
            assert!(finding["fix"].is_string() && finding["found"].is_string(), "{line}");
        }
        if let Some(fix) = finding["fix"].as_str() {
            fixes.insert(code.to_owned(), fix.to_owned());
        }
        findings.insert(code.to_owned(), severity.to_owned());
    }
    let is_bad = findings.values().any(|severity| severity == "fail");
    assert_eq!(exit, Some(i32::from(is_bad)), "{out}");
    let secret = TOKEN.split_once(' ').unwrap().1;
    assert!(!out.contains(secret), "{out}");
    Found { findings, fixes, out }
}

#[test]
fn the_tokens_of_the_front_pages_are_known() {
    for page in ["", "-check", "-server", "-simulator"] {
        let path = format!("{}/../article-webhook{page}/README.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let tokens = text.split("\"Bearer ").skip(1).map(|rest| rest.split('"').next().unwrap());
        for token in tokens.filter(|token| *token != "guess") {
            let value = format!("Bearer {token}");
            found(doctor(&[]).env("ARTICLE_WEBHOOK_TOKEN", value)).has("token.example", "fail");
        }
    }
}
