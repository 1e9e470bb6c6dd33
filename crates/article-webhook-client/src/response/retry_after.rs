use std::{
    str,
    time::{Duration, SystemTime},
};

use article_webhook::adapter::Headers;

/// `Retry-After` as a duration (RFC 9110, section 10.2.3): in full, because a call within it may renew it.
///
/// A date is measured against the response's own `Date`: the clocks of the service and of this machine may differ.
/// Without a valid `Date`, it is measured against `now`. A date in the past is zero. Of several values the longest
/// counts, and one that is not valid does not.
pub(super) fn retry_after(headers: &(impl Headers + ?Sized), now: SystemTime) -> Option<Duration> {
    let sent_at = sent_at(headers).unwrap_or(now);
    headers.values("retry-after").filter_map(|value| pause(value, sent_at)).max()
}

/// The time of the response by the clock of the service: its `Date`.
pub(super) fn sent_at(headers: &(impl Headers + ?Sized)) -> Option<SystemTime> {
    headers.values("date").find_map(date)
}

fn pause(value: &[u8], sent_at: SystemTime) -> Option<Duration> {
    let value = value.trim_ascii();
    if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
        let seconds = str::from_utf8(value).ok()?.parse();
        return Some(Duration::from_secs(seconds.unwrap_or(u64::MAX))); // more digits than any number of seconds
    }
    Some(date(value)?.duration_since(sent_at).unwrap_or_default())
}

fn date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(str::from_utf8(value.trim_ascii()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const SENT_AT: Duration = Duration::from_secs(784_111_777);
    const DATE: (&str, &str) = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");

    /// The seconds, by a clock that is ten years ahead of the service.
    fn seconds(headers: &[(&str, &str)]) -> Option<u64> {
        let now = SystemTime::UNIX_EPOCH + SENT_AT + Duration::from_secs(10 * 365 * 86_400);
        retry_after(headers, now).map(|pause| pause.as_secs())
    }

    #[test]
    fn seconds_are_handed_out_in_full() {
        for (value, expected) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("259200", Some(259_200)),
            ("18446744073709551615", Some(u64::MAX)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("-5", None),
            ("+5", None),
            ("1e9", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(seconds(&[("retry-after", value)]), expected, "{value:?}");
        }
    }

    #[test]
    fn a_date_is_measured_against_the_date_of_the_response() {
        for (value, expected) in [
            ("Sun, 06 Nov 1994 08:51:37 GMT", 120),
            ("Wed, 09 Nov 1994 08:49:37 GMT", 259_200),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 252_618_189_022),
        ] {
            let found = seconds(&[DATE, ("Retry-After", value)]);
            assert_eq!(found, Some(expected), "{value}");
        }
    }

    #[test]
    fn without_a_valid_date_it_is_measured_against_the_clock() {
        let retry_at = SystemTime::UNIX_EPOCH + SENT_AT + Duration::from_secs(120);
        let value = httpdate::fmt_http_date(retry_at);
        let now = SystemTime::UNIX_EPOCH + SENT_AT;
        for date in [None, Some(("date", "yesterday")), Some(("date", ""))] {
            let headers: Vec<_> = date.into_iter().chain([("retry-after", &*value)]).collect();
            assert_eq!(retry_after(&headers, now), Some(Duration::from_secs(120)), "{date:?}");
        }
    }

    #[test]
    fn the_longest_of_several_counts() {
        let headers = [("retry-after", "5"), ("retry-after", "60"), ("retry-after", "soon")];
        assert_eq!(seconds(&headers), Some(60));
    }
}
