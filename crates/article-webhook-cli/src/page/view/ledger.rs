use std::time::SystemTime;

use article_webhook_inbox::{
    ExpectedJob, Intent, JobState, LedgerHealth, OVERDUE_AFTER, Reason, Topic,
};
use maud::{Markup, html};

use super::{
    components::{age, command, number, pattern, text},
    layout::{self, Place},
    time_line::{Delivered, time_line},
};
use crate::{page::shared::Shared, text::command as shown_command};

/// What is shown of the ledger.
pub(in crate::page) struct Jobs {
    pub(in crate::page) health: LedgerHealth,
    /// Open jobs, the oldest first.
    pub(in crate::page) open: Vec<ExpectedJob>,
    /// Jobs that ended without an article.
    pub(in crate::page) lost: Vec<ExpectedJob>,
    /// Intents whose outcome is unknown.
    pub(in crate::page) unknown: Vec<Intent>,
    pub(in crate::page) now: SystemTime,
}

pub(in crate::page) fn ledger(shared: &Shared, jobs: &Jobs) -> Markup {
    let counts = &jobs.health.counts;
    let total = counts.total() + counts.unknown_intents;
    let content = html! {
        div.tools { h1 { "Ledger" } p.quiet { "What was ordered or refused, and whether its article is here." } }
        div #ledger data-live="ledger" {
            @if total == 0 {
                (empty(shared))
            } @else {
                (figures(jobs))
                @if let Some(paused) = jobs.health.paused {
                    p.notice.bad { "Polls and orders are paused. They go on " (age(paused.until, jobs.now)) ": " (paused.why.as_str()) "." }
                }
                (unknown(shared, jobs))
                (open(shared, jobs))
                (lost(jobs))
            }
        }
    };
    layout::page(shared, Place::Ledger, "Ledger", &content)
}

fn figures(jobs: &Jobs) -> Markup {
    let counts = &jobs.health.counts;
    let figure = |name: &str, count: u64, tone: &str| {
        html! { div data-tone=[(count > 0).then_some(tone)] { dt { (name) } dd { (number(count)) } } }
    };
    html! {
        dl.figures {
            (figure("expected", counts.open(), "busy"))
            (figure("overdue", counts.overdue, "bad"))
            (figure("unknown orders", counts.unknown_intents, "bad"))
            (figure("arrived", counts.of(JobState::Arrived), "good"))
            (figure("collected", counts.of(JobState::Collected), "good"))
            (figure("failed", counts.of(JobState::Failed), "bad"))
            (figure("unreadable", counts.of(JobState::Unreadable), "bad"))
            (figure("not found", counts.of(JobState::NotFound), "bad"))
        }
    }
}

fn unknown(shared: &Shared, jobs: &Jobs) -> Markup {
    html! {
        @if !jobs.unknown.is_empty() {
            section.card {
                h2 { "Orders whose outcome is unknown" }
                p { "The service may or may not have taken these orders. Look at the service first. Then order again, or abandon the intent." }
                ul.plain {
                    @for intent in &jobs.unknown {
                        li { strong { (text(&intent.name)) } (topic(intent.topic.as_ref())) " " span.quiet { "since " (age(intent.created_at, jobs.now)) } }
                    }
                }
                @if let Some(intent) = jobs.unknown.first() {
                    p.quiet { "To order the first of them again, with its topic in place of TOPIC:" }
                    (pattern(&shown_command::order_again(&shared.name, &intent.name)))
                }
            }
        }
    }
}

fn open(shared: &Shared, jobs: &Jobs) -> Markup {
    html! {
        section.card {
            h2 { "Expected" }
            @if jobs.open.is_empty() {
                p.quiet { "Nothing is missing: the article of every job is here, or the job has ended." }
            } @else {
                p { "A collector polls the API for these when their time comes. To poll now:" }
                (command(&shown_command::collect(&shared.name)))
                table.jobs {
                    thead { tr { th scope="col" { "Job" } th scope="col" { "Because" } th scope="col" { "Expected" } th scope="col" { "Polled" } th scope="col" { "Next" } } }
                    tbody { @for job in &jobs.open { (open_row(job, jobs.now)) } }
                }
                @if jobs.open.len() as u64 != jobs.health.counts.open() {
                    p.quiet { "The oldest of them are shown." }
                }
                @if let Some(refused) = last_refused(&jobs.open) {
                    h3 { "The last refused delivery: " (text(refused.job_id.as_str())) }
                    (time_line(&Delivered::Refused(refused.expected_at), jobs.now))
                }
            }
        }
    }
}

fn last_refused(open: &[ExpectedJob]) -> Option<&ExpectedJob> {
    let refused = open.iter().filter(|job| matches!(job.reason, Reason::Refused { .. }));
    refused.max_by_key(|job| job.expected_at)
}

fn open_row(job: &ExpectedJob, now: SystemTime) -> Markup {
    let is_overdue = now.duration_since(job.expected_at).is_ok_and(|age| age >= OVERDUE_AFTER);
    html! {
        tr {
            td.what {
                (text(job.job_id.as_str()))
                (topic(job.topic.as_ref()))
                @if is_overdue { " " span.badge data-state="dead" { "overdue" } }
                @if let Some(cause) = &job.cause { span.cause { (text(cause)) } }
            }
            td data-label="because" { (text(&job.reason.to_string())) }
            td data-label="expected" { (age(job.expected_at, now)) }
            td data-label="polled" { (job.polls) }
            td data-label="next" {
                @match job.state {
                    JobState::Polling => "polling now",
                    _ if job.at <= now => "due",
                    _ => (age(job.at, now)),
                }
            }
        }
    }
}

fn topic(topic: Option<&Topic>) -> Markup {
    html! { @if let Some(topic) = topic { " " (text(topic.as_str())) } }
}

fn lost(jobs: &Jobs) -> Markup {
    html! {
        @if !jobs.lost.is_empty() {
            section.card {
                h2 { "Ended without an article" }
                table.jobs {
                    thead { tr { th scope="col" { "Job" } th scope="col" { "How" } th scope="col" { "When" } } }
                    tbody {
                        @for job in &jobs.lost {
                            tr {
                                td.what { (text(job.job_id.as_str())) (topic(job.topic.as_ref())) @if let Some(cause) = &job.cause { span.cause { (text(cause)) } } }
                                td data-label="how" { (job.state.as_str().replace('_', " ")) }
                                td data-label="when" { (age(job.at, jobs.now)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn empty(shared: &Shared) -> Markup {
    html! {
        div.empty {
            h2 { "No job is expected" }
            p { "The ledger remembers what was ordered, so that the job of an article that does not come is polled. Order with this inbox, or name a job that you wait for:" }
            (pattern(&shown_command::order(&shared.name, "post-17")))
            (pattern(&shown_command::collect_job(&shared.name)))
        }
    }
}
