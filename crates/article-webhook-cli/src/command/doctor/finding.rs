//! What was found, and how it is shown.

use serde::Serialize;

use crate::{
    failure::{Exit, Failure},
    output::{Output, Tone},
    text::escape,
};

/// The groups, in the order in which they are shown, with what people call them.
const GROUPS: [(&str, &str); 7] = [
    ("env_file", "The file of variables"),
    ("token", "The token of deliveries"),
    ("service", "The service's API"),
    ("receiver", "The receiver"),
    ("clock", "The clock"),
    ("disk", "The disk"),
    ("inbox", "The inbox"),
];

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    Ok,
    Warn,
    Fail,
    /// Nothing that it needs was named.
    NotChecked,
}

/// What was found, why it matters, and what fixes it. Its texts are not escaped, and hold no secret.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// The group, a dot, and a name: `token.short`. It stays the same from version to version.
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    pub(super) found: String,
    pub(super) cause: Option<String>,
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn new(code: &'static str, severity: Severity, found: impl Into<String>) -> Self {
        Self { code, severity, found: found.into(), cause: None, fix: None }
    }

    pub(super) fn ok(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::Ok, found)
    }

    pub(super) fn warn(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::Warn, found)
    }

    pub(super) fn fail(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::Fail, found)
    }

    pub(super) fn not_checked(code: &'static str, found: impl Into<String>) -> Self {
        Self::new(code, Severity::NotChecked, found)
    }

    /// What another command would fail with.
    pub(super) fn of_failure(code: &'static str, severity: Severity, failure: &Failure) -> Self {
        Self::new(code, severity, failure.text()).fix(failure.fix_text())
    }

    /// A message of a crate: what is wrong, a colon, and what fixes it. One without a colon gets the other fix.
    pub(super) fn of_message(code: &'static str, message: &str, otherwise: &str) -> Self {
        let (found, fix) = message.rsplit_once(": ").unwrap_or((message, otherwise));
        Self::fail(code, found).fix(fix)
    }

    /// Adds why it is so, or why it matters.
    pub(super) fn because(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// Adds what fixes it.
    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    fn group(&self) -> &'static str {
        self.code.split('.').next().unwrap_or(self.code)
    }

    fn show(&self, output: &Output) -> Result<(), Failure> {
        let (mark, tone, before) = match self.severity {
            Severity::Ok => ("✓", Tone::Good, ""),
            Severity::Warn => ("!", Tone::Busy, ""),
            Severity::Fail => ("✗", Tone::Bad, ""),
            Severity::NotChecked => ("–", Tone::Quiet, "not checked: "),
        };
        let (mark, found) = (output.paint(tone, mark), escape::line(&self.found));
        output.line(&format!("  {mark} {before}{found}"))?;
        for (name, text) in [("why:", &self.cause), ("fix:", &self.fix)] {
            if let Some(text) = text {
                let name = output.paint(Tone::Quiet, name);
                output.line(&format!("    {name} {}", escape::line(text)))?;
            }
        }
        Ok(())
    }
}

/// How many findings there are of each severity.
#[derive(Serialize)]
struct Summary {
    failed: usize,
    not_checked: usize,
    ok: usize,
    warnings: usize,
}

/// Shows what was found. The command fails if anything does.
pub(super) fn show(findings: &[Finding], output: &Output) -> Result<Exit, Failure> {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let [ok, warnings, failed, not_checked] =
        [Severity::Ok, Severity::Warn, Severity::Fail, Severity::NotChecked].map(count);
    if output.is_json() {
        findings.iter().try_for_each(|finding| output.json("finding", finding))?;
        output.json("summary", &Summary { failed, not_checked, ok, warnings })?;
    } else {
        for (group, name) in GROUPS {
            let mut of_group = findings.iter().filter(|it| it.group() == group).peekable();
            if of_group.peek().is_some() {
                output.line(&output.paint(Tone::Head, name))?;
                of_group.try_for_each(|finding| finding.show(output))?;
                output.line("")?;
            }
        }
        let s = if warnings == 1 { "" } else { "s" };
        output.line(&format!(
            "{ok} in order, {warnings} warning{s}, {failed} failed, {not_checked} not checked"
        ))?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}
