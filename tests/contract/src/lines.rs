//! Lines of an export that were not read from a store. As in JSON, times are whole milliseconds.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Body, Entry, ExpectedJob, Intent,
    store::{
        BodyLine, EntryLine, ExportLine, IntentLine, IntentRow, JobLine, JobRow, Row, from_millis,
        tables::{BodyBytes, BodyRow, codec::NewerFields},
        to_millis,
    },
};

fn rounded(time: SystemTime) -> SystemTime {
    from_millis(to_millis(time))
}

/// The line of an entry that was shown.
#[must_use]
pub fn entry_line(entry: Entry, bodies: Vec<Body>) -> ExportLine {
    let failures = entry.failures.into_iter();
    let failures = failures.map(|mut failure| {
        failure.at = rounded(failure.at);
        failure
    });
    let document = Row {
        conflicts: entry.conflicts,
        node: entry.node,
        cause: entry.cause,
        requeued_at: entry.requeued_at,
        failures: failures.collect(),
        ..Row::new(entry.at)
    };
    ExportLine::Entry(EntryLine {
        job_id: entry.key.job_id,
        event: entry.key.event,
        state: entry.state,
        attempts: entry.attempts,
        received_at: rounded(entry.received_at),
        at: rounded(entry.at),
        since: rounded(entry.since),
        document,
        bodies: bodies.into_iter().map(body_line).collect(),
    })
}

fn body_line(body: Body) -> BodyLine {
    let document = BodyRow {
        received_at: rounded(body.received_at),
        source: body.source,
        target: body.target,
        intent: body.intent,
        title: None,
        digest: body.digest,
        bytes: BodyBytes::Removed,
        newer: NewerFields::default(),
    };
    BodyLine {
        received_at: rounded(body.received_at),
        sha256: body.digest,
        document,
        body: body.bytes,
    }
}

/// The line of a job that was shown.
#[must_use]
pub fn job_line(job: ExpectedJob) -> ExportLine {
    let document = JobRow {
        reason: job.reason,
        key: job.key,
        missing: job.missing.map(|mut missing| {
            missing.since = rounded(missing.since);
            missing
        }),
        unreadable_since: job.unreadable_since.map(rounded),
        unconfirmed: job.unconfirmed,
        cause: job.cause,
        ..JobRow::unread()
    };
    ExportLine::Job(JobLine {
        job_id: job.job_id,
        state: job.state,
        intent: job.intent,
        expected_at: rounded(job.expected_at),
        at: rounded(job.at),
        polls: job.polls,
        pushed_at: job.pushed_at.map(rounded),
        collected_at: job.collected_at.map(rounded),
        document,
    })
}

/// The line of an intent that was shown.
#[must_use]
pub fn intent_line(intent: Intent) -> ExportLine {
    ExportLine::Intent(IntentLine {
        name: intent.name,
        state: intent.state,
        created_at: rounded(intent.created_at),
        at: rounded(intent.at),
        job_id: intent.job_id,
        document: IntentRow {
            topic: intent.topic,
            ..IntentRow::new(Duration::ZERO, intent.created_at)
        },
    })
}
