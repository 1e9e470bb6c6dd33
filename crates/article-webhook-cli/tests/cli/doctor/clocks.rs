use std::time::{Duration, SystemTime};

use super::{doctor, found};
use crate::server::{answer, serve};

/// A server whose clock is ahead of this machine's, or behind it.
fn server(ahead: i64) -> String {
    serve(move |_| {
        let (now, by) = (SystemTime::now(), Duration::from_secs(ahead.unsigned_abs()));
        let shown = if ahead < 0 { now - by } else { now + by };
        answer("401 Unauthorized", &format!("Date: {}\r\n", httpdate::fmt_http_date(shown)), "")
    })
}

#[test]
fn a_clock_that_is_off_is_found_in_the_answers_of_the_receiver_and_the_service() {
    for (ahead, code, severity, words) in [
        (0, "clock.agrees", "ok", "agrees with that of the receiver"),
        (60, "clock.off", "warn", " behind that of the receiver"),
        (-60, "clock.off", "warn", " ahead of that of the receiver"),
        (7260, "clock.off", "fail", "2 h behind that of the receiver"),
        (-7260, "clock.off", "fail", " ahead of that of the receiver"),
    ] {
        let found = found(&mut doctor(&["--url", &server(ahead)]));
        found.has(code, severity);
        assert!(found.out.contains(words), "{ahead}: {}", found.out);
        if code == "clock.off" {
            let corrected = super::found(&mut doctor(&["--url", &server(0)]));
            let fix = "switch on time synchronisation, such as `timedatectl set-ntp true`, or fix the other clock";
            found.is_cured(code, severity, fix, &corrected);
        }
    }
    let found = found(doctor(&["--api-url", &server(-7260)]).env("ARTICLE_API_KEY", "sk-1"));
    found.has("clock.off", "fail");
    assert!(found.out.contains(" ahead of that of the service"), "{}", found.out);
}
