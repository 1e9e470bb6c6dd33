//! Times and ages, as people read and write them.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::Since;

/// RFC 3339 in UTC, to the millisecond, for `--json`.
pub(crate) fn exact(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

/// RFC 3339 in UTC, to the second.
pub(crate) fn shown(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace('T', " ").replace('Z', " UTC")
}

/// A span in its largest unit: `42 s`, `7 min`, `3 h`, `12 d`.
pub(crate) fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", seconds / 60),
        seconds @ 6000..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86400),
    }
}

/// The time of day in UTC: `09:07:30`.
pub(crate) fn time_of_day(time: SystemTime) -> String {
    exact(time)[11..19].to_owned()
}

/// A time since a start, as minutes and seconds: `0:07`, `12:30`.
pub(crate) fn clock(since_start: Duration) -> String {
    let seconds = since_start.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// How long ago a time was, or in how long it will be.
pub(crate) fn relative(time: SystemTime, now: SystemTime) -> String {
    match time.duration_since(now) {
        Ok(ahead) if ahead.is_zero() => "now".to_owned(),
        Ok(ahead) => format!("in {}", span(ahead)),
        Err(past) => format!("{} ago", span(past.duration())),
    }
}

/// Since when something is so, and who made it so: `2026-11-27 03:04:05 UTC by ops@db1`. The name is not escaped.
pub(crate) fn since(Since { at, by, .. }: &Since) -> String {
    let by = by.as_deref().map_or(String::new(), |by| format!(" by {by}"));
    shown(*at) + &by
}

/// An age of the command line, such as `90s`, `15min`, `2h` or `7d`.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let wrong = |_| "expected a number and a unit, such as 90s, 15min, 2h or 7d".to_owned();
    humantime::parse_duration(text).map_err(wrong)
}
