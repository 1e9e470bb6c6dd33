use serde_json::json;

use super::finding::{Finding, Severity};
use crate::{
    exit::Exit,
    failure::Failure,
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

/// Shows what was found. The command fails if anything does.
pub(super) fn show(findings: &[Finding], output: &Output) -> Result<Exit, Failure> {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let [ok, warnings, failed, not_checked] =
        [Severity::Ok, Severity::Warn, Severity::Fail, Severity::NotChecked].map(count);
    if output.is_json() {
        findings.iter().try_for_each(|finding| output.json("finding", finding))?;
        output.json(
            "summary",
            &json!({
                "ok": ok, "warnings": warnings, "failed": failed, "not_checked": not_checked,
            }),
        )?;
    } else {
        for (group, name) in GROUPS {
            let mut of_group = findings.iter().filter(|it| it.group() == group).peekable();
            if of_group.peek().is_some() {
                output.line(&output.paint(Tone::Head, name))?;
                of_group.try_for_each(|finding| line(finding, output))?;
                output.line("")?;
            }
        }
        output.line(&sum(ok, warnings, failed, not_checked))?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn line(finding: &Finding, output: &Output) -> Result<(), Failure> {
    let (mark, tone) = match finding.severity {
        Severity::Ok => ("✓", Tone::Good),
        Severity::Warn => ("!", Tone::Busy),
        Severity::Fail => ("✗", Tone::Bad),
        Severity::NotChecked => ("–", Tone::Quiet),
    };
    let found = match finding.severity {
        Severity::NotChecked => format!("not checked: {}", finding.found),
        _ => finding.found.clone(),
    };
    output.line(&format!("  {} {}", output.paint(tone, mark), escape::line(&found)))?;
    for (name, text) in [("why:", &finding.cause), ("fix:", &finding.fix)] {
        if let Some(text) = text {
            let name = output.paint(Tone::Quiet, name);
            output.line(&format!("    {name} {}", escape::line(text)))?;
        }
    }
    Ok(())
}

fn sum(ok: usize, warnings: usize, failed: usize, not_checked: usize) -> String {
    let s = if warnings == 1 { "" } else { "s" };
    format!("{ok} in order, {warnings} warning{s}, {failed} failed, {not_checked} not checked")
}
