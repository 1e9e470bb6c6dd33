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
    let corrected = found(&mut doctor(&["--url", &server(0)]));
    corrected.has("clock.agrees", "ok");
    let fix = "switch on time synchronisation, such as `timedatectl set-ntp true`, or fix the other clock";
    for (option, ahead, severity, words) in [
        ("--url", 60, "warn", " behind that of the receiver"),
        ("--url", -60, "warn", " ahead of that of the receiver"),
        ("--url", 7260, "fail", "2 h behind that of the receiver"),
        ("--api-url", -7260, "fail", " ahead of that of the service"),
    ] {
        let mut off = doctor(&[option, &server(ahead)]);
        let off = found(off.env("ARTICLE_API_KEY", "sk-1"));
        off.is_cured("clock.off", severity, fix, &corrected);
        assert!(off.out.contains(words), "{ahead}: {}", off.out);
    }
}
