//! What stands above the list: what needs a person, the last 24 hours and why; or what became of what was requeued.

use std::time::SystemTime;

use article_webhook_inbox::{CauseCount, HourCount, State};
use maud::{Markup, html};

use super::components::{age, list_path, number, text};
use crate::{
    page::{
        query::Query,
        shared::Shared,
        watch::{HOURS, first_hour},
    },
    text::{entries, escape},
};

/// How many causes of a state are shown.
const CAUSES: usize = 8;

/// How many entries are requeued to see whether they fail again.
const FEW: u64 = 5;

/// How high a chart is, and how wide an hour, in its own units.
const HEIGHT: u64 = 48;
const WIDTH: u64 = 10;

pub(super) fn overview(
    shared: &Shared,
    causes: &[CauseCount],
    hours: Option<&[HourCount]>,
    now: SystemTime,
) -> Markup {
    html! {
        div.overview #overview data-live="overview" {
            (alarm(causes, now))
            (charts(hours, now))
            @for (state, _) in STATES { (why(shared, state, causes, now)) }
        }
    }
}

/// The states that need a person, the most frequent first, and what they mean.
const STATES: [(State, &str); 4] = [
    (State::Dead, "every attempt failed"),
    (State::Unhandled, "no handler takes them"),
    (State::Quarantined, "authentic, and not readable"),
    (State::Corrupt, "damaged in the store"),
];

fn of_state(causes: &[CauseCount], state: State) -> Vec<&CauseCount> {
    causes.iter().filter(|group| group.state == state).collect()
}

fn count(groups: &[&CauseCount]) -> u64 {
    groups.iter().map(|group| group.count).sum()
}

fn alarm(causes: &[CauseCount], now: SystemTime) -> Markup {
    html! {
        @if !causes.is_empty() {
            ul.alarm aria-label="What needs a person" {
                @for (state, meaning) in STATES {
                    @let groups = of_state(causes, state);
                    @if let Some(first) = groups.iter().map(|group| group.first).min() {
                        li {
                            strong { (number(count(&groups))) " " (state.as_str()) }
                            " the first " (age(first, now)) span.quiet { " " (meaning) }
                        }
                    }
                }
            }
        }
    }
}

fn charts(hours: Option<&[HourCount]>, now: SystemTime) -> Markup {
    let Some(hours) = hours else {
        return html! { p.quiet { "The last 24 hours are being counted." } };
    };
    let first = first_hour(now);
    html! {
        div.charts {
            (chart("arrived", "good", first, hours, |hour| hour.arrived))
            (chart("died", "bad", first, hours, |hour| hour.died))
        }
        // A table is never narrower than its words.
        div.hidden {
            table {
                caption { "Entries that arrived and died in the last 24 hours. Hours without either are left out." }
                thead { tr { th scope="col" { "Hour, UTC" } th scope="col" { "Arrived" } th scope="col" { "Died" } } }
                tbody {
                    @for hour in hours { tr { th scope="row" { (clock(hour.hour)) } td { (hour.arrived) } td { (hour.died) } } }
                }
            }
        }
    }
}

fn chart(
    name: &str,
    tone: &str,
    first: SystemTime,
    hours: &[HourCount],
    of: impl Fn(&HourCount) -> u64,
) -> Markup {
    let bars = (0..HOURS).map(|index| {
        let begins = first + HourCount::LENGTH * index;
        (begins, hours.iter().find(|hour| hour.hour == begins).map_or(0, &of))
    });
    let bars: Vec<_> = bars.collect();
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or_default().max(1);
    html! {
        figure.chart data-tone=(tone) aria-hidden="true" {
            figcaption { strong { (number(bars.iter().map(|(_, count)| count).sum())) } " " (name) " in 24 hours" }
            svg viewBox={ "0 0 " (WIDTH * u64::from(HOURS)) " " (HEIGHT) } preserveAspectRatio="none" {
                @for (index, (begins, count)) in bars.iter().enumerate() {
                    // An hour in which something happened is seen.
                    @let height = (count * HEIGHT / most).max(if *count > 0 { 2 } else { 1 });
                    rect data-some=[(*count > 0).then_some("")] x=(index as u64 * WIDTH + 1) y=(HEIGHT - height) width=(WIDTH - 2) height=(height) {
                        title { (clock(*begins)) " UTC: " (number(*count)) " " (name) }
                    }
                }
            }
            p.quiet { span { (clock(first)) " UTC" } span { "now" } }
        }
    }
}

/// The hour of a day.
fn clock(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    format!("{:02}:00", seconds / 3600 % 24)
}

fn why(shared: &Shared, state: State, causes: &[CauseCount], now: SystemTime) -> Markup {
    let groups = of_state(causes, state);
    let all = count(&groups);
    html! {
        @if all > 0 {
            section.card.why aria-labelledby={ "why-" (state.as_str()) } {
                h2 id={ "why-" (state.as_str()) } { "Why " (number(all)) @if all == 1 { " is " } @else { " are " } (state.as_str()) }
                ul.groups {
                    @for group in groups.iter().take(CAUSES) {
                        li {
                            a.cause href=(list_path(shared, &Query::of_group(group))) { (text(cause(group))) }
                            span.quiet {
                                (entries(group.count)) ", " @if group.count > 1 { "first " (age(group.first, now)) ", last " }
                                (age(group.last, now))
                            }
                            (buttons(shared, group))
                        }
                    }
                }
                @if let Some(rest) = groups.get(CAUSES..).filter(|rest| !rest.is_empty()) {
                    p.quiet { (rest.len()) " more causes: " a href=(list_path(shared, &Query { state: Some(state), ..Query::default() })) { "see all that are " (state.as_str()) } }
                }
            }
        }
    }
}

fn cause(group: &CauseCount) -> &str {
    group.cause.as_deref().unwrap_or("no cause is kept")
}

/// What is in quarantine is read again. A group without a cause has no filter of its own, so it has no button.
fn buttons(shared: &Shared, group: &CauseCount) -> Markup {
    let all = match group.state {
        State::Quarantined if group.count == 1 => "Read it again".to_owned(),
        _ if group.count == 1 => "Requeue it".to_owned(),
        State::Quarantined => format!("Read all {} again", number(group.count)),
        _ => format!("Requeue all {}", number(group.count)),
    };
    let path = shared.access.path(&format!("/requeue{}", Query::of_group(group).text()));
    html! {
        @if !shared.is_read_only && group.cause.is_some() {
            form.choice method="post" action=(path) {
                input type="hidden" name="token" value=(shared.access.token.as_str());
                @if group.count > FEW {
                    button type="submit" name="first" value=(FEW) aria-label={ "Try five: " (escape::line(cause(group))) } { "Try five" }
                }
                button.primary type="submit" aria-label={ (all) ": " (escape::line(cause(group))) } { (all) }
            }
        }
    }
}

/// What became of the entries that were requeued at a time.
pub(super) fn requeued(
    shared: &Shared,
    at: SystemTime,
    causes: &[CauseCount],
    now: SystemTime,
) -> Markup {
    let of = |is: &dyn Fn(&CauseCount) -> bool| {
        causes.iter().filter(|group| is(group)).map(|group| group.count).sum::<u64>()
    };
    let parts = [
        ("published", "good", of(&|group| group.state == State::Done)),
        ("running", "busy", of(&|group| group.state == State::Leased)),
        ("waiting", "quiet", of(&|group| group.state == State::Waiting)),
        ("failed again", "bad", of(&|group| group.state.needs_person())),
    ];
    let all: u64 = parts.iter().map(|(.., count)| count).sum();
    let failed: Vec<_> = causes.iter().filter(|group| group.cause.is_some()).collect();
    html! {
        section.card.result #overview data-live="overview" aria-labelledby="result" {
            @if all == 0 {
                h2 #result { "Nothing was requeued" }
                p { "The entries have left their state since the page was shown, or are in quarantine and cannot be read by this version either." }
            } @else {
                h2 #result { "Requeued: " (entries(all)) ", " (age(at, now)) }
                (bar(&parts, all))
                dl.figures {
                    @for (name, tone, count) in &parts {
                        div data-tone=[(*count > 0).then_some(*tone)] { dt { (name) } dd { (number(*count)) } }
                    }
                }
                @if !failed.is_empty() {
                    h3 { "What failed again, and why" }
                    ul.groups {
                        @for group in failed {
                            li {
                                span.cause { (text(cause(group))) }
                                span.quiet { (entries(group.count)) @if group.state == State::Waiting { ": tried again later" } @else { " " (group.state.as_str()) } }
                            }
                        }
                    }
                }
                noscript { p.quiet { "Reload the page to see how it goes on." } }
            }
            p { a href=(shared.access.path("/")) { "Back to all entries" } }
        }
    }
}

/// The parts of a whole, beside each other.
fn bar(parts: &[(&str, &str, u64)], all: u64) -> Markup {
    let mut before = 0;
    html! {
        svg.parts viewBox={ "0 0 " (all) " 1" } preserveAspectRatio="none" aria-hidden="true" {
            @for (_, tone, count) in parts {
                rect data-tone=(tone) x=(before) y="0" width=(count) height="1" {}
                @let () = before += count;
            }
        }
    }
}
