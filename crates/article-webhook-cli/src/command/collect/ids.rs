//! Which jobs are collected.

use std::{io::BufRead, path::Path, time::SystemTime};

use article_webhook_client::JobId;
use article_webhook_inbox::{Inbox, JobFilter, JobState};

use crate::{failure::Failure, settings::input};

/// One id a line. Empty lines and those that begin with `#` are left out.
pub(super) fn of_file(path: &Path) -> Result<Vec<JobId>, Failure> {
    let unreadable = |error: &std::io::Error| {
        Failure::usage(format!("{} cannot be read", path.display()))
            .because(error)
            .fix("name a file that you may read, or - for standard input")
    };
    let lines = match path.as_os_str() == "-" {
        true => input::standard(),
        false => input::file(path).map_err(|error| unreadable(&error))?,
    };
    let mut ids = Vec::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.map_err(|error| unreadable(&error))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        ids.push(line.parse().map_err(|error: article_webhook_client::InvalidJobId| {
            Failure::usage(format!("line {number} is not a job id"))
                .because(&error)
                .fix(format!("correct line {number} of {}, or remove it", path.display()))
        })?);
    }
    Ok(ids)
}

/// The jobs that the ledger expects.
#[derive(Default)]
pub(super) struct Expected {
    /// Those whose time to be polled has come.
    pub(super) due: Vec<JobId>,
    /// When the first of the others is due.
    pub(super) next: Option<SystemTime>,
}

pub(super) async fn of_ledger(inbox: &Inbox) -> Result<Expected, Failure> {
    let ledger = inbox.ledger();
    let mut filter = JobFilter { state: Some(JobState::Expected), ..JobFilter::default() };
    let mut expected = Expected::default();
    loop {
        let page = ledger.jobs(filter.clone()).await?;
        for job in page.items {
            if job.at <= ledger.now() {
                expected.due.push(job.job_id);
            } else {
                expected.next = Some(expected.next.map_or(job.at, |next| next.min(job.at)));
            }
        }
        let Some(after) = page.next else { return Ok(expected) };
        filter.after = after;
    }
}
