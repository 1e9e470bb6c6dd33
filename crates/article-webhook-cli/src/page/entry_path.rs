//! An entry in the paths of the page.

use article_webhook_inbox::EntryKey;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Stands before an event that would be no segment of a path as it is. A browser takes `..` for the folder above, also
/// where its dots are encoded.
const MARK: char = '~';

pub(super) fn path_of(key: &EntryKey) -> String {
    let part = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let event = key.event.as_str();
    let mark = if matches!(event, "" | "." | "..") || event.starts_with(MARK) { "~" } else { "" };
    format!("/entry/{}/{mark}{}", part(key.job_id.as_str()), part(event))
}

/// The entry of a path, whose segments are decoded. `None`: there is no such job id.
pub(super) fn key_of(job: &str, event: &str) -> Option<EntryKey> {
    let event = event.strip_prefix(MARK).unwrap_or(event);
    Some(EntryKey { job_id: job.parse().ok()?, event: event.into() })
}
