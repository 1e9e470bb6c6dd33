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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_the_way_through_a_browser() {
        for event in ["article.complete", "", ".", "..", "~", "~..", "%2E%2E", "a/b?c#d", "..a"] {
            let key = EntryKey { job_id: "job_1".parse().unwrap(), event: event.into() };
            let base = url::Url::parse("http://127.0.0.1/root/").unwrap();
            let url = base.join(&format!("/root{}", path_of(&key))).unwrap();
            let segments: Vec<_> = url.path_segments().unwrap().collect();
            let [_, _, job, event] = segments[..] else { panic!("{url}") };
            let decoded = |part| percent_encoding::percent_decode_str(part).decode_utf8().unwrap();
            assert_eq!(key_of(&decoded(job), &decoded(event)), Some(key), "{url}");
        }
    }
}
