use std::io::{IsTerminal, stderr, stdin};

use crate::{failure::Failure, output::Output};

/// Asks a question on the terminal, after `show` has shown what it is about. Where nothing can be asked, `what` is refused.
pub(super) async fn confirm(
    what: &str,
    question: &str,
    show: impl FnOnce() -> Result<(), Failure>,
    output: &Output,
) -> Result<(), Failure> {
    if output.is_json() || !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(Failure::usage(format!("{what} needs a confirmation"))
            .fix("add --yes; --dry-run shows what would be done"));
    }
    show()?;
    output.note(&format!("{question}? [y/N]"));
    let read = tokio::task::spawn_blocking(|| stdin().lines().next());
    let answer = read.await.ok().flatten().and_then(Result::ok).unwrap_or_default();
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::failed("nothing was changed").fix("answer y, or add --yes")),
    }
}
