use article_webhook_client::{ApiKey, RawResponse, StatusCode};
use article_webhook_inbox::{JobState, Reason, store::JobRow};

use super::*;

const KEY: &str = "sk-5f2b9c0e7a1d4e38";
const NOW: SystemTime = SystemTime::UNIX_EPOCH;
const PAUSE: Duration = Duration::from_secs(900);

const COMPLETE: &str = r#"{"job_id":"job_1","status":"complete","article":{"title":"Shoes","html":"<article></article>","meta_title":"","meta_description":"","eeat_score":1,"word_count":1}}"#;
const FAILED: &str = r#"{"error":"generation_failed","message":"failed at outline","details":{"step":"outline","credits_refunded":1}}"#;
const FAILED_STATE: &str = r#"{"job_id":"job_1","status":"failed"}"#;
const LOST: &str = r#"{"error":"job_not_found","message":"no such job"}"#;

/// What becomes of the job.
#[derive(Debug, PartialEq)]
enum Job {
    Answered,
    Failed,
    NotFound,
    Unfinished,
    Unconfirmed,
    Missing,
    Rejected,
    Again,
}

fn job(id: i64) -> ExpectedJob {
    let row = JobRow {
        state: JobState::Polling,
        reason: Reason::Ordered,
        expected_at: NOW,
        at: NOW,
        polls: 1,
        ..JobRow::unread()
    };
    row.into_job(id, "job_1".parse().unwrap())
}

fn response(status: u16, retry_after: &str, body: &str) -> Response {
    let headers: &[(&str, &str)] = &[("Retry-After", retry_after)];
    let raw =
        RawResponse::new(StatusCode::from_u16(status).unwrap(), headers, body.to_owned(), NOW);
    Response::classify(&ApiKey::new(KEY).unwrap(), &"job_1".parse().unwrap(), raw)
}

fn meaning_of(job: &ExpectedJob, response: &Response, watch: &mut KeyWatch) -> Meaning {
    Polled { job, pause: PAUSE, began: NOW, key: 17 }.meaning(response, watch)
}

/// What becomes of the job, after which pause, and what is stored as the cause.
fn parts(outcome: &PollOutcome) -> (Job, Option<Duration>, &str) {
    match outcome {
        PollOutcome::Answered(_) => (Job::Answered, None, ""),
        PollOutcome::Failed { cause, .. } => (Job::Failed, None, cause),
        PollOutcome::NotFound { cause } => (Job::NotFound, None, cause),
        PollOutcome::Unfinished { after, cause } => (Job::Unfinished, Some(*after), cause),
        PollOutcome::Unconfirmed { after, cause, .. } => (Job::Unconfirmed, Some(*after), cause),
        PollOutcome::Missing { after, cause } => (Job::Missing, Some(*after), cause),
        PollOutcome::Rejected { after, cause } => (Job::Rejected, Some(*after), cause),
        PollOutcome::Again { after, cause } => (Job::Again, Some(*after), cause),
        PollOutcome::Released => panic!("an answer means more"),
    }
}

/// Every answer that is no article, row by row: what becomes of the job, and what is reported to a person.
#[test]
fn every_answer_has_its_outcome_and_its_message() {
    let rows = include_str!("answers.txt").lines();
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let cells: Vec<_> = row.split(" |").map(str::trim).collect();
        let [status, body, name, expected, message] = cells[..] else { panic!("{row}") };
        let status = status.parse().unwrap();
        let (_, article) = COMPLETE.trim_end_matches('}').split_once(r#""complete","#).unwrap();
        let body = body
            .replace("{article}", &format!("{article}}}"))
            .replace("{failed}", FAILED)
            .replace("{lost}", LOST)
            .replace("{MiB}", &"x".repeat(1 << 20));
        let answer = response(status, "", &body);
        let meaning = meaning_of(&job(1), &answer, &mut KeyWatch::default());
        let (found, after, cause) = parts(&meaning.outcome);
        assert_eq!((meaning.name, &*format!("{found:?}")), (name, expected), "{row}");
        let pause = if found == Job::Unconfirmed { CONFIRM_AFTER } else { PAUSE };
        assert!(after.is_none_or(|after| after == pause), "{row}: {after:?}");
        assert_eq!(cause, message, "{row}");
        assert_eq!(cause.is_empty(), found == Job::Answered, "{row}");
        if let PollOutcome::Answered(answer) | PollOutcome::Failed { answer, .. } = meaning.outcome
        {
            assert_eq!(answer.bytes, body.as_bytes(), "the bytes as they came");
            assert_eq!((answer.digest, &*answer.target), (Digest::of(body.as_bytes()), "api"));
        }
        let is_pause = matches!(status, 401 | 429);
        assert_eq!(meaning.event.is_some(), is_pause, "{row}");
    }
}

/// What becomes of a job whose last answer was `before`, by this one.
fn after(before: &str, retry_after: &str, body: &str) -> PollOutcome {
    let mut job = job(1);
    if let PollOutcome::Unconfirmed { statement, .. } =
        meaning_of(&job, &response(200, "", before), &mut KeyWatch::default()).outcome
    {
        job.unconfirmed = Some(statement);
    }
    meaning_of(&job, &response(200, retry_after, body), &mut KeyWatch::default()).outcome
}

#[test]
fn a_draft_is_the_article_and_a_failure_the_end_if_a_second_answer_says_the_same() {
    let draft = COMPLETE.replace("complete", "published");
    let longer = draft.replace("<article>", "<article>more");
    let cancelled = FAILED_STATE.replace("failed", "canceled");
    let queued = r#"{"job_id":"job_1","status":"queued"}"#;
    for (before, body, expected) in [
        (&*draft, &*draft, Job::Answered),
        (&draft, &longer, Job::Unconfirmed),
        (queued, &draft, Job::Unconfirmed),
        (FAILED_STATE, FAILED_STATE, Job::Failed),
        (FAILED_STATE, r#"{"job_id": "job_1", "status": "failed", "at": 2}"#, Job::Failed),
        (FAILED_STATE, &cancelled, Job::Unconfirmed),
        (FAILED_STATE, &draft, Job::Unconfirmed),
        (&draft, COMPLETE, Job::Answered),
        (FAILED_STATE, queued, Job::Unfinished),
    ] {
        let outcome = after(before, "", body);
        assert_eq!(parts(&outcome).0, expected, "{before} {body}");
        if let PollOutcome::Answered(answer) | PollOutcome::Failed { answer, .. } = outcome {
            assert_eq!(answer.bytes, body.as_bytes(), "the bytes as they came");
        }
    }
    // A draft that is written on is polled no more often than any other job.
    for (before, retry_after, pause) in [
        (queued, "", CONFIRM_AFTER),
        (queued, "7", CONFIRM_AFTER),
        (queued, "3600", Duration::from_secs(3600)),
        (&longer, "", PAUSE),
    ] {
        assert_eq!(parts(&after(before, retry_after, &draft)).1, Some(pause), "{before}");
    }
}

/// The bucket waits for as long as the service asks for, whatever that is.
#[test]
fn a_retry_after_counts_in_full() {
    let limited =
        |seconds| Some(BucketEvent::RateLimited { retry_after: Duration::from_secs(seconds) });
    let unavailable =
        |seconds| Some(BucketEvent::Unavailable { retry_after: Duration::from_secs(seconds) });
    for (status, retry_after, event, pause) in [
        (429, "", limited(0), PAUSE),
        (429, "61", limited(61), PAUSE),
        (429, "31536000", limited(31_536_000), PAUSE),
        (503, "90000", unavailable(90_000), PAUSE),
        (503, "", None, PAUSE),
        (200, "3600", None, Duration::from_secs(3600)),
        // The ledger keeps no longer wait of a job.
        (200, "31536000", None, DAY),
    ] {
        let answer = response(status, retry_after, r#"{"job_id":"job_1"}"#);
        let meaning = meaning_of(&job(1), &answer, &mut KeyWatch::default());
        assert_eq!(meaning.event, event, "{status} {retry_after}");
        assert_eq!(parts(&meaning.outcome).1, Some(pause), "{status} {retry_after}");
    }
}

/// The pause of a job that is overdue is a day.
#[test]
fn what_says_nothing_about_a_job_does_not_cost_it_a_day() {
    let job = job(1);
    let polled = Polled { job: &job, pause: DAY, began: NOW, key: 17 };
    for (status, expected) in [(401, HOUR), (429, HOUR), (503, HOUR), (403, DAY), (404, DAY)] {
        let meaning = polled.meaning(&response(status, "", LOST), &mut KeyWatch::default());
        assert_eq!(parts(&meaning.outcome).1, Some(expected), "{status}");
    }
    for why in [NoAnswer::Late, NoAnswer::Panicked, NoAnswer::Stopped] {
        assert_eq!(parts(&polled.without_answer(&why).outcome).1, Some(HOUR), "{why:?}");
    }
}

/// A key that knows other jobs, and not this one before, is that of another account.
#[test]
fn a_job_is_not_found_after_days_if_others_were_known_meanwhile_by_the_key_of_the_job() {
    let days = |days: u32| NOW + DAY * days;
    for (times, now, knew_at, key, expected) in [
        (0, days(9), &[days(9)][..], None, Job::Missing),
        (1, days(9), &[days(9)], None, Job::Missing),
        (2, days(9), &[days(9)], None, Job::NotFound),
        (2, days(3), &[days(0)], None, Job::NotFound),
        (2, days(9), &[days(9), NOW - DAY], None, Job::NotFound), // the answer to an old call came late
        (2, days(9), &[days(10)], None, Job::Missing), // from before the clock was set back
        (2, days(3) - Duration::from_millis(1), &[days(1)], None, Job::Missing),
        (99, days(99), &[], None, Job::Missing),
        (99, days(99), &[NOW - DAY], None, Job::Missing),
        (9, days(9), &[days(9)], Some(17), Job::NotFound),
        (9, days(9), &[days(9)], Some(18), Job::Missing),
    ] {
        let mut job = job(1);
        (job.missing, job.key) = ((times > 0).then_some(Missing::new(times, NOW)), key);
        let mut watch = KeyWatch::default();
        knew_at.iter().for_each(|at| watch.knew(*at));
        let polled = Polled { job: &job, pause: PAUSE, began: now, key: 17 };
        let meaning = polled.meaning(&response(404, "", LOST), &mut watch);
        assert_eq!(parts(&meaning.outcome).0, expected, "{times} {now:?} {knew_at:?} {key:?}");
    }
}

/// A proxy may answer without the service.
#[test]
fn only_an_answer_that_names_the_job_shows_that_the_service_knows_it() {
    for (status, body, is_known) in [
        (200, "{}", false),
        (200, r#"{"status":"ok"}"#, false),
        (200, r#"{"job_id":"job_1"}"#, true),
        (200, COMPLETE, true),
        (500, FAILED, true),
        (404, LOST, false),
    ] {
        let mut watch = KeyWatch::default();
        meaning_of(&job(1), &response(status, "", body), &mut watch);
        assert_eq!(watch.has_known(NOW, NOW), is_known, "{body}");
    }
}
