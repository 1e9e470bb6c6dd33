//! When the service tries to deliver, drawn on a line.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{Body, Source};
use maud::{Markup, html};

use crate::text::moment::span;

/// Service document, section 6.2: a delivery that is not answered with 2xx is tried again 10, 60 and 300 seconds after the
/// attempt before. These are the times since the first.
const ATTEMPTS: [u64; 4] = [0, 10, 70, 370];

/// Where they are drawn, in percent of the width. Their true distances would put the first three on one point.
const PLACES: [f64; 4] = [6.0, 26.0, 54.0, 94.0];

/// What the line is drawn for.
pub(super) enum Delivered<'a> {
    /// An article that is here.
    Bodies(&'a [Body]),
    /// A delivery that was refused at this time.
    Refused(SystemTime),
}

pub(super) fn time_line(delivered: &Delivered<'_>, now: SystemTime) -> Markup {
    if let Delivered::Bodies([first, ..]) = delivered
        && first.source == Source::Api
    {
        return html! { p.quiet { "The job was polled: no delivery of it was stored first." } };
    }
    let start = match delivered {
        Delivered::Bodies(bodies) => bodies.iter().map(|body| body.received_at).min(),
        Delivered::Refused(at) => Some(*at),
    };
    let Some(start) = start else { return html! {} };
    let since = |time: SystemTime| time.duration_since(start).unwrap_or_default();
    let age = since(now);
    let arrivals: Vec<Duration> = match delivered {
        Delivered::Bodies(bodies) => bodies.iter().map(|body| since(body.received_at)).collect(),
        Delivered::Refused(_) => Vec::new(),
    };
    let text = match delivered {
        Delivered::Bodies(_) => {
            "The service tries until it gets a 2xx. It got one for the first body that was stored here, so it does not have to try again. The line begins with that body: an attempt before it, which was not stored, is not known here."
        }
        Delivered::Refused(_) if age < Duration::from_secs(ATTEMPTS[3]) => {
            "The service tries again at these times, counted from its first attempt."
        }
        Delivered::Refused(_) => {
            "The service has made its last attempt. Only the API still has the article."
        }
    };
    let first = match delivered {
        Delivered::Bodies(_) => "stored",
        Delivered::Refused(_) => "first",
    };
    // Names of bodies are above the line.
    let top = if arrivals.len() > 1 { 40 } else { 20 };
    html! {
        figure.times {
            svg width="100%" height=(top + 46) role="img" aria-label="The service delivers at once, and again after 10, 70 and 370 seconds" {
                line.axis x1={ (PLACES[0]) "%" } x2={ (PLACES[3]) "%" } y1=(top) y2=(top) {}
                line.past x1={ (PLACES[0]) "%" } x2={ (place(age)) "%" } y1=(top) y2=(top) {}
                @for (index, seconds) in ATTEMPTS.into_iter().enumerate() {
                    @let is_past = age >= Duration::from_secs(seconds);
                    circle.attempt data-past=[is_past.then_some("")] cx={ (PLACES[index]) "%" } cy=(top) r="6" {}
                    text.at x={ (PLACES[index]) "%" } y=(top + 26) text-anchor="middle" {
                        @if seconds == 0 { "0 s" } @else { "+" (seconds) " s" }
                    }
                    text.nth x={ (PLACES[index]) "%" } y=(top + 41) text-anchor="middle" {
                        @if index == 0 { (first) } @else { "retry " (index) }
                    }
                }
                @for (index, arrival) in arrivals.iter().enumerate() {
                    circle.arrival cx={ (place(*arrival)) "%" } cy=(top) r="4" {}
                    @if arrivals.len() > 1 {
                        text.body x={ (place(*arrival)) "%" } y=(top - 18) text-anchor="middle" { "body " (index + 1) }
                    }
                }
                @if age < Duration::from_secs(ATTEMPTS[3]) {
                    line.now x1={ (place(age)) "%" } x2={ (place(age)) "%" } y1=(top - 14) y2=(top + 14) {}
                }
            }
            figcaption.quiet { (text) @if let Some(late) = arrivals.iter().find(|at| at.as_secs() > ATTEMPTS[3]) {
                " A body came " (span(*late)) " after the first: it was delivered or collected once more."
            } }
        }
    }
}

/// Where a time since the first attempt is on the line.
fn place(since: Duration) -> f64 {
    let seconds = since.as_secs_f64();
    for index in 1..ATTEMPTS.len() {
        let (from, to) = (as_f64(ATTEMPTS[index - 1]), as_f64(ATTEMPTS[index]));
        if seconds <= to {
            let part = (seconds - from) / (to - from);
            let place = PLACES[index - 1] + part * (PLACES[index] - PLACES[index - 1]);
            return (place * 10.0).round() / 10.0;
        }
    }
    PLACES[3]
}

fn as_f64(seconds: u64) -> f64 {
    Duration::from_secs(seconds).as_secs_f64()
}
