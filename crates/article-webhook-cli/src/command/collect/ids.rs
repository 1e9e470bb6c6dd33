//! Which jobs are collected.

use std::{
    fs::File,
    io::{BufRead, BufReader, stdin},
    path::Path,
};

use article_client::JobId;
use article_inbox::{Inbox, JobFilter, JobState};

use crate::failure::Failure;

/// One id a line. Empty lines and those that begin with `#` are left out.
pub(super) fn of_file(path: &Path) -> Result<Vec<JobId>, Failure> {
    let unreadable = |error: &std::io::Error| {
        Failure::usage(format!("{} cannot be read", path.display())).because(error)
    };
    let lines: Box<dyn BufRead> = match path.as_os_str() == "-" {
        true => Box::new(stdin().lock()),
        false => Box::new(BufReader::new(File::open(path).map_err(|error| unreadable(&error))?)),
    };
    let mut ids = Vec::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.map_err(|error| unreadable(&error))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        ids.push(line.parse().map_err(|error: article_client::InvalidJobId| {
            Failure::usage(format!("line {number} is not a job id")).because(&error)
        })?);
    }
    Ok(ids)
}

/// The jobs of the ledger whose time to be asked for has come.
pub(super) async fn of_ledger(inbox: &Inbox) -> Result<Vec<JobId>, Failure> {
    let ledger = inbox.ledger();
    let mut filter = JobFilter { state: Some(JobState::Expected), ..JobFilter::default() };
    let mut ids = Vec::new();
    loop {
        let page = ledger.jobs(filter.clone()).await?;
        let due = page.items.into_iter().filter(|job| job.at <= ledger.now());
        ids.extend(due.map(|job| job.job_id));
        let Some(next) = page.next else { return Ok(ids) };
        filter.after = next;
    }
}
