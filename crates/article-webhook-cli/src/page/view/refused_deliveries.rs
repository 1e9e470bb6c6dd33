use std::{sync::Arc, time::SystemTime};

use article_webhook_inbox::{
    Entry, ExpectedJob, Filter, JobFilter, JobState, ListOrder, Reason, State as EntryState,
};
use axum::extract::State;
use maud::{Markup, html};

use super::{
    components::{age, command, entry_path, text},
    layout::{self, Place},
    missed::Missed,
};
use crate::{
    output::log::{Refusal, Refusals},
    page::shared::Shared,
    text::command as shown_command,
};

/// How many entries of the quarantine are shown, and how many expected jobs are looked at.
const ENTRIES: u32 = 50;
const JOBS: u32 = 500;

/// What was refused, the last first.
struct Refused {
    /// By the receiver of this process, if it has one.
    here: Option<Vec<Refusal>>,
    /// What is kept of authentic deliveries.
    quarantine: Vec<Entry>,
    /// Jobs that are expected because a delivery of them was refused.
    jobs: Vec<ExpectedJob>,
    now: SystemTime,
}

pub(in crate::page) async fn refused_deliveries(
    State(shared): State<Arc<Shared>>,
) -> Result<Markup, Missed> {
    let quarantine = Filter {
        state: Some(EntryState::Quarantined),
        order: ListOrder::NewestFirst,
        limit: ENTRIES,
        ..Filter::default()
    };
    let expected =
        JobFilter { state: Some(JobState::Expected), limit: JOBS, ..JobFilter::default() };
    let mut jobs = shared.inbox.jobs(expected).await?.items;
    jobs.retain(|job| matches!(job.reason, Reason::Refused { .. }));
    let refused = Refused {
        here: shared.refusals.as_ref().map(Refusals::all),
        quarantine: shared.inbox.list(quarantine).await?.items,
        jobs,
        now: SystemTime::now(),
    };
    let content = html! {
        div.tools { h1 { "Refused" } p.quiet { "What was delivered and not taken, and why." } }
        div #refused data-live="refused" {
            (here(&shared, &refused))
            (kept(&shared, &refused))
        }
    };
    Ok(layout::page(&shared, Place::Refused, "Refused", &content))
}

fn here(shared: &Shared, refused: &Refused) -> Markup {
    html! {
        section.card {
            h2 { "Since the start" }
            @match &refused.here {
                None => {
                    p { "This page does not receive, so it does not know what a receiver refused without a trace: what came without the token. The receiver's log has it. To look at the receiver:" }
                    (command(&shown_command::doctor(&shared.receiver)))
                }
                Some(refusals) if refusals.is_empty() => p.quiet { "Nothing was refused since this program was started." },
                Some(refusals) => {
                    table.jobs {
                        thead { tr { th scope="col" { "What" } th scope="col" { "Job" } th scope="col" { "Code" } th scope="col" { "When" } } }
                        tbody { @for refusal in refusals { (row(refusal, refused.now)) } }
                    }
                    p.quiet { "The last 200 are remembered until this program ends. Of requests without the token, one a second." }
                }
            }
        }
    }
}

fn row(refusal: &Refusal, now: SystemTime) -> Markup {
    let of = |name| refusal.field(name).unwrap_or_default();
    let more = refusal.fields.iter().filter(|(name, _)| !matches!(*name, "code" | "job_id"));
    html! {
        tr {
            td.what {
                (text(&refusal.message))
                @for (name, value) in more { span.detail { (name.replace('_', " ")) ": " (text(value)) } }
            }
            td data-label="job" { (text(of("job_id"))) }
            td data-label="code" { code { (text(of("code"))) } }
            td data-label="when" { (age(refusal.at, now)) }
        }
    }
}

fn kept(shared: &Shared, refused: &Refused) -> Markup {
    let Refused { quarantine, jobs, now, .. } = refused;
    html! {
        section.card {
            h2 { "Came with the token" }
            @if quarantine.is_empty() && jobs.is_empty() {
                p.quiet { "Nothing that came with the token is in quarantine or is expected because it was refused." }
            } @else {
                table.jobs {
                    thead { tr { th scope="col" { "Job" } th scope="col" { "What is known" } th scope="col" { "Why" } th scope="col" { "When" } } }
                    tbody {
                        @for entry in quarantine {
                            tr {
                                td.what { a href=(entry_path(shared, &entry.key)) { (text(entry.key.job_id.as_str())) } }
                                td data-label="known" { "its body is in quarantine" }
                                td data-label="why" { @if let Some(cause) = &entry.cause { (text(cause)) } }
                                td data-label="when" { (age(entry.received_at, *now)) }
                            }
                        }
                        @for job in jobs {
                            tr {
                                td.what { a href=(shared.access.path("/ledger")) { (text(job.job_id.as_str())) } }
                                td data-label="known" { "its article is expected: a collector polls" }
                                td data-label="why" { (text(&job.reason.to_string())) }
                                td data-label="when" { (age(job.expected_at, *now)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
