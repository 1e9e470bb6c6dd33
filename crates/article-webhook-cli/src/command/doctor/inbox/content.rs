//! What an inbox has, wherever it is.

use article_webhook_inbox::{Counts, Inbox, LedgerHealth, PauseReason, State};

use super::worker;
use crate::{
    command::doctor::finding::{Finding, Severity},
    context::Context,
    failure::Failure,
    text::{
        command, moment,
        number::{counted, entries},
    },
};

/// A larger inbox is not read to its end.
const CHECKED_WHOLE: u64 = 64 << 20;

/// The fix of an error that names none.
const SEE_LOG: &str = "look into the log of the receiver; close other programs that write to the inbox; make room on the disk";

pub(super) fn refused(failure: Failure) -> Finding {
    const CODE: &str = "inbox.refused";
    let finding = match failure.fix {
        Some(fix) => Finding::fail(CODE, failure.what).fix(fix),
        None => Finding::of_message(CODE, Severity::Fail, &failure.what, SEE_LOG),
    };
    match failure.cause {
        Some(cause) => finding.because(cause),
        None => finding,
    }
}

/// An inbox that is open.
pub(super) struct Opened<'a> {
    pub(super) inbox: Inbox,
    /// As the command line names it.
    pub(super) name: &'a str,
    /// How large it is.
    pub(super) bytes: u64,
    /// What is done about damage.
    pub(super) of_damage: &'static str,
}

pub(super) async fn content(opened: &Opened<'_>, context: &Context) -> Vec<Finding> {
    let inbox = &opened.inbox;
    let mut findings = vec![writable(inbox, context).await];
    let mut note = |found: Result<Vec<Finding>, article_webhook_inbox::Error>| match found {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(refused(error.into())),
    };
    note(damage(opened).await);
    note(worker::waiting(inbox).await);
    note(inbox.counts().await.map(|counts| states(&counts)));
    note(inbox.ledger_health().await.map(|health| ledger(&health)));
    findings
}

/// What the store knows of itself is known in the process of the receiver alone.
async fn writable(inbox: &Inbox, context: &Context) -> Finding {
    if context.environment.may_change_inbox().is_err() {
        let found = "whether something can be stored, because ARTICLE_INBOX_READ_ONLY is set";
        return Finding::not_checked("inbox.writable", found);
    }
    match inbox.ready().await {
        Ok(()) => Finding::ok("inbox.writable", "a small change was committed"),
        Err(error) => {
            Finding::of_message("inbox.not_writable", Severity::Fail, &error.to_string(), SEE_LOG)
                .because("every delivery is answered 503")
        }
    }
}

async fn damage(opened: &Opened<'_>) -> Result<Vec<Finding>, article_webhook_inbox::Error> {
    let Opened { inbox, name, bytes, of_damage } = opened;
    if *bytes > CHECKED_WHOLE {
        let found = format!("whether {} MiB are sound, which takes long", bytes >> 20);
        let fix = command::full_status(name);
        return Ok(vec![Finding::not_checked("inbox.sound", found).fix(fix)]);
    }
    let mut found = inbox.check().await?;
    // The settings of the server are checked apart.
    found.retain(article_webhook_inbox::Finding::is_damage);
    if found.is_empty() {
        return Ok(vec![Finding::ok("inbox.sound", "no damage found")]);
    }
    let of_message = |found: &article_webhook_inbox::Finding| {
        Finding::fail("inbox.damage", found.to_string()).fix(*of_damage)
    };
    Ok(found.iter().map(of_message).collect())
}

fn states(counts: &Counts) -> Vec<Finding> {
    let mut findings = vec![Finding::ok("inbox.entries", entries(counts.total()))];
    let mut note = |state: State, finding: fn(String) -> Finding| match counts.of(state) {
        0 => {}
        count => {
            let are = counted(count, "entry is", "entries are");
            findings.push(finding(format!("{are} {}", state.as_str())));
        }
    };
    note(State::Dead, |found| {
        Finding::warn("inbox.dead", found).because("their handler failed at every attempt").fix(
            "article-webhook inbox list INBOX --state dead; then fix the cause, and: article-webhook inbox requeue INBOX --state dead",
        )
    });
    note(State::Unhandled, |found| {
        Finding::warn("inbox.unhandled", found)
            .because("no body of theirs is an article that this version reads")
            .fix("article-webhook inbox list INBOX --state unhandled; requeue them for a version that reads them, or discard them")
    });
    note(State::Quarantined, |found| {
        Finding::warn("inbox.quarantined", found)
            .because("their deliveries were refused, and no good copy has come yet")
            .fix("article-webhook inbox list INBOX --state quarantined; then article-webhook collect --inbox INBOX JOB")
    });
    note(State::Corrupt, |found| {
        Finding::fail("inbox.corrupt", found)
            .because("the disk or another program changed what was stored")
            .fix("article-webhook collect --inbox INBOX JOB for each; then check the disk")
    });
    findings
}

fn ledger(health: &LedgerHealth) -> Vec<Finding> {
    let mut findings = Vec::new();
    let counts = &health.counts;
    if counts.overdue > 0 {
        findings.push(
            Finding::fail(
                "inbox.overdue_jobs",
                counted(
                    counts.overdue,
                    "job of the ledger is overdue",
                    "jobs of the ledger are overdue",
                ),
            )
            .because("they have neither been delivered nor collected for three days")
            .fix("article-webhook collect --inbox INBOX; ask the service about jobs that stay"),
        );
    }
    if counts.unknown_intents > 0 {
        findings.push(
            Finding::warn("inbox.unknown_orders", counted(counts.unknown_intents, "order has an unknown outcome", "orders have an unknown outcome"))
                .because("the answer to the call was lost: the article may have been ordered")
                .fix("look at the service whether the job exists; a delivery to its webhook URL settles it, and `article-webhook order --again` orders it all the same"),
        );
    }
    if let Some(since) = counts.gaps_since {
        let since = moment::shown(since);
        findings.push(
            Finding::warn("inbox.ledger_gaps", format!("orders may be missing in the ledger since {since}"))
                .because("a salvage or a restore may lack some: an order that is not found is not made")
                .fix("compare your orders with the jobs of the service, then: article-webhook inbox orders-checked INBOX"),
        );
    }
    if let Some(pause) = health.paused {
        let until = moment::shown(pause.until);
        findings.push(match pause.why {
            PauseReason::KeyRefused { .. } => Finding::fail(
                "inbox.key_refused",
                format!("polls and orders pause until {until}"),
            )
            .because("the service refused the API key")
            .fix("give the collector the key that the service issued; the pause is of the refused key alone"),
            PauseReason::RateLimited => {
                Finding::warn("inbox.rate_limited", format!("polls and orders pause until {until}"))
                    .because("the service limits the rate of calls")
                    .fix("wait; if it happens often, lower the rate of the collector")
            }
            PauseReason::Unavailable => {
                Finding::warn("inbox.unavailable", format!("polls and orders pause until {until}"))
                    .because("the service, or a proxy before it, cannot serve any call now")
                    .fix("wait; if it does not end, ask the service")
            }
        });
    }
    if findings.is_empty() {
        findings.push(Finding::ok("inbox.jobs", "no job of the ledger is overdue"));
    }
    findings
}
