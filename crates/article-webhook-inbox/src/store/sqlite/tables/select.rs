//! Which rows a script works on.

use std::time::SystemTime;

use article_webhook::JobId;
use rusqlite::{Connection, OptionalExtension, ToSql, params_from_iter, types::Value};

use super::value::text;
use crate::{
    JobState, State,
    call::{
        CauseCount, Claim, Counts, DELIVERY_PERIOD, Events, Filter, HourCount, LedgerCounts,
        ListOrder, MILLIS_PER_HOUR, OVERDUE_AFTER,
    },
    rules::MIN_QUARANTINE_COST,
    script::{Entries, Expected, Next},
    store::sqlite::{
        damage::Findings,
        fault::{Fault, RESTART},
    },
    timestamp::{from_millis, to_millis},
};

/// The condition of one range of the index by time.
macro_rules! in_range {
    () => {
        "state = ?1 AND ((event = 'generation failed' AND (state = 'waiting' OR state = 'leased')) \
         + 2 * (state = 'waiting' AND attempts > 0)) = ?2"
    };
}

/// The condition of the indexes of entries that need a person.
macro_rules! needs_person {
    () => {
        "(state = 'dead' OR state = 'unhandled' OR state = 'corrupt' OR state = 'quarantined')"
    };
}

/// The entries of one range up to a time, in the order of their times. The last column is the job that the table has for
/// the entry, or null if the table or the index by job says something else than the index by time.
const ENTRIES_BY_TIME: &str = concat!(
    "SELECT at, id, (SELECT job_id FROM article_inbox_entries AS entry NOT INDEXED \
     WHERE entry.id = listed.id AND entry.at = listed.at AND ",
    in_range!(),
    " AND entry.id = (SELECT +id FROM article_inbox_entries AS named \
     WHERE named.job_id = entry.job_id AND named.event = entry.event)) \
     FROM article_inbox_entries AS listed WHERE ",
    in_range!(),
    " AND at <= ?3 ORDER BY at, id"
);

/// The same for the jobs that are to be polled.
const JOBS_BY_TIME: &str = "SELECT at, id, (SELECT job_id FROM article_inbox_jobs AS job NOT INDEXED \
    WHERE job.id = listed.id AND job.at = listed.at AND (state = 'expected' OR state = 'polling') \
    AND job.id = (SELECT +id FROM article_inbox_jobs AS named WHERE named.job_id = job.job_id)) \
    FROM article_inbox_jobs AS listed INDEXED BY article_inbox_jobs_due \
    WHERE (state = 'expected' OR state = 'polling') AND at <= ?1 ORDER BY at, id";

/// A range of the index by time: the entries of a state that wait or are leased, either failures of jobs or all others, and
/// of those that wait either new ones or those that had an attempt. So a claim visits no entry that it does not take, and
/// none before its turn.
struct Range {
    state: State,
    is_failure: bool,
    is_retry: bool,
}

impl Range {
    /// The number of the range in the index.
    fn kind(&self) -> u8 {
        u8::from(self.is_failure) + 2 * u8::from(self.is_retry)
    }
}

fn live(events: Events) -> impl Iterator<Item = Range> {
    let ranges = [
        (State::Waiting, false, false),
        (State::Waiting, false, true),
        (State::Leased, false, false),
        (State::Waiting, true, false),
        (State::Waiting, true, true),
        (State::Leased, true, false),
    ];
    let ranges = ranges.map(|(state, is_failure, is_retry)| Range { state, is_failure, is_retry });
    ranges.into_iter().filter(move |range| events == Events::All || !range.is_failure)
}

fn ids(
    connection: &Connection,
    statement: &str,
    parameters: &[&dyn ToSql],
) -> Result<Vec<i64>, Fault> {
    let mut statement = connection.prepare_cached(statement)?;
    let ids = statement.query_map(parameters, |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// The times and ids of the first rows of a selection by time, other than those with the given ids. A row that a script
/// could not load is passed over, so that it delays no other, and reported.
fn by_time(
    connection: &Connection,
    statement: &str,
    parameters: &[&dyn ToSql],
    (limit, left_out): (u32, &[i64]),
    findings: &Findings,
) -> Result<Vec<(i64, i64)>, Fault> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while found.len() < limit as usize
        && let Some(row) = rows.next()?
    {
        let id = row.get(1)?;
        let job_id = text(row.get_ref(2)?).and_then(|name| name.parse::<JobId>().ok());
        match (job_id, row.get_ref(0)?.as_i64()) {
            _ if left_out.contains(&id) => {}
            (Some(_), Ok(at)) => found.push((at, id)),
            _ => findings.add(
                "index",
                format!(
                    "row {id} is skipped, because its job id cannot be read, or an index differs from its table: {RESTART}"
                ),
            ),
        }
    }
    Ok(found)
}

/// The ids of entries.
pub(super) fn entries(
    connection: &Connection,
    which: &Entries,
    now: SystemTime,
    findings: &Findings,
) -> Result<Vec<i64>, Fault> {
    match which {
        Entries::Due(claim) => due(connection, claim, to_millis(now), findings),
        Entries::Leased => {
            let mut leased = Vec::new();
            for range in live(Events::All).filter(|range| range.state == State::Leased) {
                let parameters: [&dyn ToSql; 3] = [&range.state.as_str(), &range.kind(), &i64::MAX];
                let all = (u32::MAX, &[][..]);
                leased.extend(by_time(connection, ENTRIES_BY_TIME, &parameters, all, findings)?);
            }
            Ok(leased.into_iter().map(|(_, id)| id).collect())
        }
        Entries::WaitingBeyond(time) => ids(
            connection,
            "SELECT id FROM article_inbox_entries INDEXED BY article_inbox_entries_by_time \
             WHERE state = 'waiting' AND at > ?1",
            &[&to_millis(*time)],
        ),
        Entries::DoneWithBytes { before, limit } => ids(
            connection,
            "SELECT id FROM article_inbox_entries INDEXED BY article_inbox_entries_held \
             WHERE state = 'done' AND held > 0 AND at < ?1 ORDER BY at, id LIMIT ?2",
            &[&to_millis(*before), limit],
        ),
        Entries::Ended { state, before, limit } => ids(
            connection,
            concat!(
                "SELECT id FROM article_inbox_entries WHERE ",
                in_range!(),
                " AND at < ?3 ORDER BY at, id LIMIT ?4"
            ),
            &[&state.as_str(), &0, &to_millis(*before), limit],
        ),
        Entries::Listed(filter) => listed(connection, filter),
    }
}

fn due(
    connection: &Connection,
    claim: &Claim,
    now: i64,
    findings: &Findings,
) -> Result<Vec<i64>, Fault> {
    let mut due = Vec::new();
    for range in live(claim.events) {
        let parameters: [&dyn ToSql; 3] = [&range.state.as_str(), &range.kind(), &now];
        let first = (claim.limit, &[][..]);
        let found = by_time(connection, ENTRIES_BY_TIME, &parameters, first, findings)?;
        let is_retry = range.is_retry || range.state == State::Leased;
        // As `Claim::order` says.
        due.extend(found.into_iter().map(|(at, id)| (is_retry != claim.retries_first, at, id)));
    }
    due.sort_unstable();
    due.truncate(claim.limit as usize);
    Ok(due.into_iter().map(|(.., id)| id).collect())
}

fn listed(connection: &Connection, filter: &Filter) -> Result<Vec<i64>, Fault> {
    let Filter { state, event, job_id, target, received_before, received_since, .. } = filter;
    let Filter { cause, requeued_at, after, order, limit, .. } = filter;
    let mut statement = String::from("SELECT id FROM article_inbox_entries WHERE TRUE");
    let mut parameters: Vec<Value> = Vec::new();
    let mut condition = |text: &str, value: Value| {
        parameters.push(value);
        statement.push_str(" AND ");
        statement.push_str(&text.replace('?', &format!("?{}", parameters.len())));
    };
    match (order, after) {
        (ListOrder::NewestFirst, 0) => {}
        (ListOrder::NewestFirst, after) => condition("id < ?", Value::Integer(*after)),
        (ListOrder::OldestFirst, after) => condition("id > ?", Value::Integer(*after)),
    }
    if let Some(state) = state {
        // Entries that ended well are the most. The plus keeps SQLite from sorting all of them by their ids.
        let column = if *state == State::Done { "+state = ?" } else { "state = ?" };
        condition(column, Value::Text(state.as_str().into()));
    }
    if let Some(event) = event {
        let is_common = event.as_str() == "article.complete";
        condition(
            if is_common { "+event = ?" } else { "event = ?" },
            Value::Text(event.as_str().into()),
        );
    }
    if let Some(job_id) = job_id {
        condition("job_id = ?", Value::Text(job_id.as_str().into()));
    }
    if let Some(target) = target {
        condition("target = ?", Value::Text(target.as_ref().into()));
    }
    if let Some(before) = received_before {
        condition("received_at < ?", Value::Integer(to_millis(*before)));
    }
    if let Some(since) = received_since {
        condition("received_at >= ?", Value::Integer(to_millis(*since)));
    }
    if let Some(cause) = cause {
        condition("cause_group = ?", Value::Text(cause.as_ref().into()));
    }
    if let Some(at) = requeued_at {
        condition("requeued_at = ?", Value::Integer(to_millis(*at)));
    }
    if let Some(term) = filter.search_term() {
        condition("instr(search, ?) > 0", Value::Text(term));
    }
    if event.as_ref().is_some_and(|event| event.as_str() != "article.complete") {
        statement.push_str(" AND event <> 'article.complete'");
    }
    if state.is_some_and(State::needs_person) {
        statement.push_str(concat!(" AND ", needs_person!()));
    }
    let direction = if *order == ListOrder::NewestFirst { " DESC" } else { "" };
    parameters.push(Value::Integer(i64::from(*limit) + 1));
    statement.push_str(&format!(" ORDER BY id{direction} LIMIT ?{}", parameters.len()));
    let mut statement = connection.prepare_cached(&statement)?;
    let ids = statement.query_map(params_from_iter(parameters), |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// What the bodies in quarantine take of the budget for them.
pub(super) fn quarantine_cost(connection: &Connection) -> Result<u64, Fault> {
    let cost = concat!(
        "SELECT ifnull(sum(max(ifnull(length(body.body), 0), ?1)), 0) \
        FROM article_inbox_entries AS entry INDEXED BY article_inbox_entries_stuck CROSS JOIN article_inbox_bodies AS body \
        ON body.slot BETWEEN entry.id * 16 AND entry.id * 16 + 15 WHERE entry.state = 'quarantined' AND ",
        needs_person!()
    );
    let min = MIN_QUARANTINE_COST.cast_signed();
    let cost: i64 = connection.prepare_cached(cost)?.query_row([min], |row| row.get(0))?;
    Ok(cost.unsigned_abs())
}

/// The ids of rows of the ledger.
pub(super) fn expected(
    connection: &Connection,
    which: &Expected,
    now: SystemTime,
    findings: &Findings,
) -> Result<Vec<i64>, Fault> {
    match which {
        Expected::Due { limit } => {
            let first = (*limit, &[][..]);
            let due = by_time(connection, JOBS_BY_TIME, &[&to_millis(now)], first, findings)?;
            Ok(due.into_iter().map(|(_, id)| id).collect())
        }
        Expected::Restarted => ids(
            connection,
            "SELECT id FROM article_inbox_jobs WHERE state = 'polling' \
             OR (state = 'expected' AND (at > ?1 OR expected_at > ?1)) \
             UNION ALL SELECT id FROM article_inbox_jobs WHERE state NOT IN \
             ('expected', 'polling', 'arrived', 'collected', 'failed', 'unreadable', 'not_found')",
            &[&to_millis(now)],
        ),
        Expected::Ended { before, limit } => ids(
            connection,
            "SELECT id FROM article_inbox_jobs INDEXED BY article_inbox_jobs_ended \
             WHERE state <> 'expected' AND state <> 'polling' AND at < ?1 ORDER BY at, id LIMIT ?2",
            &[&to_millis(*before), limit],
        ),
        Expected::Listed(filter) => {
            let state = filter.state.map(JobState::as_str);
            let before = filter.expected_before.map_or(i64::MAX, to_millis);
            let limit = filter.limit.saturating_add(1);
            let parameters: &[&dyn ToSql] =
                &[&filter.after, &limit, &state, &filter.intent.as_deref(), &before];
            let statement = if filter.intent.is_some() {
                "SELECT id FROM article_inbox_jobs WHERE id > ?1 AND (?3 IS NULL OR state = ?3) AND intent = ?4 \
                 AND expected_at < ?5 ORDER BY id LIMIT ?2"
            } else if state.is_some() {
                "SELECT id FROM article_inbox_jobs WHERE id > ?1 AND state = ?3 AND ?4 IS NULL \
                 AND expected_at < ?5 ORDER BY id LIMIT ?2"
            } else {
                "SELECT id FROM article_inbox_jobs NOT INDEXED WHERE id > ?1 AND ?3 IS NULL AND ?4 IS NULL \
                 AND expected_at < ?5 ORDER BY id LIMIT ?2"
            };
            ids(connection, statement, parameters)
        }
    }
}

/// When the next of these rows is due.
pub(super) fn next(
    connection: &Connection,
    which: &Next,
    findings: &Findings,
) -> Result<Option<SystemTime>, Fault> {
    let first = |statement: &str, parameters: &[&dyn ToSql], left_out: &[i64]| {
        let found = by_time(connection, statement, parameters, (1, left_out), findings)?;
        Ok::<_, Fault>(found.first().map(|(at, _)| *at))
    };
    let next_of = |of: &mut dyn Iterator<Item = Range>, left_out: &[i64]| {
        let mut next = None;
        for range in of {
            let parameters: [&dyn ToSql; 3] = [&range.state.as_str(), &range.kind(), &i64::MAX];
            let at = first(ENTRIES_BY_TIME, &parameters, left_out)?;
            next = [next, at].into_iter().flatten().min();
        }
        Ok::<_, Fault>(next)
    };
    let at = match which {
        Next::Entry(events, left_out) => next_of(&mut live(*events), left_out)?,
        Next::Failure => next_of(&mut live(Events::All).filter(|range| range.is_failure), &[])?,
        Next::Poll(left_out) => first(JOBS_BY_TIME, &[&i64::MAX], left_out)?,
    };
    Ok(at.map(from_millis))
}

/// How many entries are in each state.
pub(super) fn counts(connection: &Connection) -> Result<Counts, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT state, count(*) FROM article_inbox_entries GROUP BY state")?;
    let mut rows = statement.query([])?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        // A state that cannot be read is that of a damaged entry.
        let state = row.get_ref(0)?.as_str().ok().and_then(State::from_name);
        counts.push((state.unwrap_or(State::Corrupt), row.get::<_, i64>(1)?.unsigned_abs()));
    }
    Ok(counts.into_iter().collect())
}

/// How many entries there are for each state and group of causes.
pub(super) fn causes(
    connection: &Connection,
    requeued_at: Option<SystemTime>,
) -> Result<Vec<CauseCount>, Fault> {
    let of = if requeued_at.is_some() { "requeued_at = ?1" } else { needs_person!() };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT state, iif(state = 'done', NULL, cause_group), count(*), min(since), max(since) \
         FROM article_inbox_entries WHERE {of} GROUP BY 1, 2"
    ))?;
    let mut rows = statement.query(params_from_iter(requeued_at.map(to_millis)))?;
    let mut causes = Vec::new();
    while let Some(row) = rows.next()? {
        let time =
            |index| row.get_ref(index).map(|time| from_millis(time.as_i64().unwrap_or_default()));
        causes.push(CauseCount {
            state: text(row.get_ref(0)?)
                .and_then(|name| State::from_name(&name))
                .unwrap_or(State::Corrupt),
            cause: text(row.get_ref(1)?).map(|cause| cause.as_str().into()),
            count: row.get::<_, i64>(2)?.unsigned_abs(),
            first: time(3)?,
            last: time(4)?,
        });
    }
    Ok(causes)
}

/// How many entries arrived and died in each hour, since this time.
pub(super) fn hours(connection: &Connection, since: SystemTime) -> Result<Vec<HourCount>, Fault> {
    let count = |statement: &str, parameters: &[i64]| -> Result<Vec<(i64, u64)>, Fault> {
        let mut statement = connection.prepare_cached(statement)?;
        let counts = statement.query_map(params_from_iter(parameters), |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })?;
        Ok(counts.collect::<Result<_, _>>()?)
    };
    let since = to_millis(since);
    let arrived = count(
        "SELECT received_at / ?2, count(*) FROM \
         (SELECT received_at FROM article_inbox_entries NOT INDEXED ORDER BY id DESC LIMIT ?3) \
         WHERE received_at >= ?1 GROUP BY 1",
        &[since, MILLIS_PER_HOUR, HourCount::MAX_ENTRIES.into()],
    )?;
    let died = count(
        concat!(
            "SELECT since / ?2, count(*) FROM article_inbox_entries INDEXED BY article_inbox_entries_causes \
             WHERE state = 'dead' AND since >= ?1 AND ",
            needs_person!(),
            " GROUP BY 1"
        ),
        &[since, MILLIS_PER_HOUR],
    )?;
    Ok(HourCount::collect(arrived, died))
}

/// The figures of the ledger. They come from the indexes alone.
pub(super) fn ledger_counts(
    connection: &Connection,
    now: SystemTime,
) -> Result<LedgerCounts, Fault> {
    let mut counts = LedgerCounts::default();
    let mut statement = connection
        .prepare_cached("SELECT state, count(*) FROM article_inbox_jobs GROUP BY state")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let state = row.get_ref(0)?.as_str().ok().and_then(JobState::from_name);
        counts.states[state.unwrap_or_default() as usize] += row.get::<_, i64>(1)?.unsigned_abs();
    }
    let now = to_millis(now);
    let millis =
        |duration: std::time::Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let count = |statement: &str, parameters: &[&dyn ToSql]| -> Result<u64, Fault> {
        let mut statement = connection.prepare_cached(statement)?;
        Ok(statement.query_row(parameters, |row| row.get::<_, i64>(0))?.unsigned_abs())
    };
    counts.overdue = count(
        "SELECT count(*) FROM article_inbox_jobs WHERE (state = 'expected' OR state = 'polling') AND expected_at <= ?1",
        &[&now.saturating_sub(millis(OVERDUE_AFTER))],
    )?;
    counts.recovered = count(
        "SELECT count(*) FROM article_inbox_jobs WHERE state = 'collected' AND collected_at <= ?1 - ?2 \
         AND (pushed_at IS NULL OR pushed_at > collected_at + ?2)",
        &[&now, &millis(DELIVERY_PERIOD)],
    )?;
    counts.unknown_intents = count(
        "SELECT count(*) FROM article_inbox_intents WHERE state = 'ordering' AND at <= ?1",
        &[&now],
    )?;
    let oldest = "SELECT expected_at FROM article_inbox_jobs WHERE state = 'expected' OR state = 'polling' \
        ORDER BY expected_at LIMIT 1";
    let mut statement = connection.prepare_cached(oldest)?;
    let oldest = statement.query_row([], |row| Ok(row.get_ref(0)?.as_i64().ok())).optional()?;
    counts.oldest_expected = oldest.flatten().map(from_millis);
    Ok(counts)
}
