//! Which rows a script works on, and how many there are.

use std::time::{Duration, SystemTime};

use article_webhook::Event;
use article_webhook_inbox::{
    CauseCount, Counts, HourCount, JobState, LedgerCounts, ListOrder, OVERDUE_AFTER, Since, State,
    store::{
        DELIVERY_PERIOD, MILLIS_PER_HOUR, from_millis,
        tables::{
            MIN_QUARANTINE_COST,
            script::{Entries, Expected, Mark},
        },
        to_millis,
    },
};
use tokio_postgres::Row;

use super::{
    due,
    value::{number, text, value},
};
use crate::{
    connection::{Statement, Transaction, first},
    fault::Fault,
};

/// Must agree with [`Filter::accepts`](article_webhook_inbox::Filter::accepts). The server plans it for the values of each call,
/// so a condition that is not asked for costs nothing.
macro_rules! list {
    ($after:literal, $order:literal) => {
        concat!(
            "SELECT id FROM article_inbox_entries WHERE id ",
            $after,
            " $1 AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR event = $4) AND ($5 IS NULL OR job_id = $5) \
             AND ($6 IS NULL OR target = $6) AND ($7 IS NULL OR received_at < $7) AND ($8 IS NULL OR received_at >= $8) \
             AND ($9 IS NULL OR cause_group = $9) AND ($10 IS NULL OR requeued_at = $10) \
             AND ($11 IS NULL OR strpos(search, $11) > 0) ORDER BY id",
            $order,
            " LIMIT $2"
        )
    };
}

fn ids(rows: &[Row]) -> Vec<i64> {
    rows.iter().map(|row| number(row, 0)).collect()
}

/// The ids of entries.
pub(super) async fn entries(tx: &mut Transaction<'_>, which: Entries) -> Result<Vec<i64>, Fault> {
    let select = match which {
        // A claim finds these together with their rows.
        Entries::Due(_) => return Ok(Vec::new()),
        Entries::Leased => {
            Statement::new("SELECT id FROM article_inbox_entries WHERE state = 'leased'")
        }
        Entries::WaitingBeyond(time) => {
            let beyond = "SELECT id FROM article_inbox_entries WHERE state = 'waiting' AND at > $1";
            Statement::new(beyond).with(to_millis(time))
        }
        Entries::DoneWithBytes { before, limit } => {
            let old = "SELECT id FROM article_inbox_entries WHERE state = 'done' AND held > 0 AND at < $1 \
                    ORDER BY at, id LIMIT $2";
            Statement::new(old).with(to_millis(before)).with(i64::from(limit))
        }
        Entries::Ended { state, before, limit } => {
            // The state is no parameter, because each index is of some states.
            let old = format!(
                "SELECT id FROM article_inbox_entries WHERE state = '{state}' AND at < $1 ORDER BY at, id LIMIT $2"
            );
            Statement::new(old).with(to_millis(before)).with(i64::from(limit))
        }
        Entries::Listed(filter) => {
            let term = filter.search_term();
            let (list, after) = match (filter.order, filter.after) {
                (ListOrder::NewestFirst, 0) => (list!("<", " DESC"), i64::MAX),
                (ListOrder::NewestFirst, after) => (list!("<", " DESC"), after),
                (_, after) => (list!(">", ""), after),
            };
            Statement::new(list)
                .with(after)
                .with(i64::from(filter.limit) + 1)
                .with(filter.state.map(|state| state.as_str().to_owned()))
                .with(filter.event.as_ref().map(Event::to_string))
                .with(filter.job_id.as_ref().map(ToString::to_string))
                .with(filter.target.map(|target| target.into_string()))
                .with(filter.received_before.map(to_millis))
                .with(filter.received_since.map(to_millis))
                // The server takes no U+0000 in a text, and no group has it.
                .with(filter.cause.map(|cause| cause.replace('\0', "\u{fffd}")))
                .with(filter.requeued_at.map(to_millis))
                .with(term)
        }
    };
    Ok(ids(&tx.query(select).await?))
}

/// The ids of rows of the ledger.
pub(super) async fn expected(
    tx: &mut Transaction<'_>,
    which: &Expected,
) -> Result<Vec<i64>, Fault> {
    let select = match which {
        Expected::Due { limit } => return due::jobs(tx, *limit).await,
        Expected::Restarted => Statement::new(
            "SELECT id FROM article_inbox_jobs WHERE state IN ('expected', 'polling') ORDER BY at, id",
        ),
        Expected::Ended { before, limit } => {
            // The first condition is that of the index. A state of a newer version is none of the others.
            let ended = JobState::ALL.iter().copied().filter(|state| !state.is_open());
            let ended: Vec<_> = ended.map(|state| format!("'{state}'")).collect();
            let ended = format!(
                "SELECT id FROM article_inbox_jobs WHERE state NOT IN ('expected', 'polling') AND state IN ({}) AND at < $1 \
                 ORDER BY at, id LIMIT $2",
                ended.join(", ")
            );
            Statement::new(ended).with(to_millis(*before)).with(i64::from(*limit))
        }
        // Must agree with `JobFilter::accepts`.
        Expected::Listed(filter) => Statement::new(
            "SELECT id FROM article_inbox_jobs WHERE id > $1 AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR intent = $4) \
             AND ($5 IS NULL OR expected_at < $5) ORDER BY id LIMIT $2",
        )
        .with(filter.after)
        .with(i64::from(filter.limit) + 1)
        .with(filter.state.map(|state| state.as_str().to_owned()))
        .with(filter.intent.as_deref().map(str::to_owned))
        .with(filter.expected_before.map(to_millis)),
    };
    Ok(ids(&tx.query(select).await?))
}

/// Since when the inbox has a mark.
pub(super) async fn since(tx: &mut Transaction<'_>, mark: Mark) -> Result<Option<Since>, Fault> {
    let mut since = Statement::new("SELECT value, set_by FROM article_inbox_meta WHERE name = $1")
        .with(mark.name().to_owned());
    if !tx.is_read_only() && mark == Mark::Paused {
        since = since.and(" FOR UPDATE");
    }
    Ok(since_of(first(&tx.query(since).await?)?, [0, 1]))
}

/// The time in one column, which is 0 if there is none, and the name in the other.
pub(super) fn since_of(row: &Row, [at, by]: [usize; 2]) -> Option<Since> {
    let at = Some(number(row, at)).filter(|at| *at != 0)?;
    Some(Since::new(from_millis(at), value::<&str>(row, by).map(Into::into)))
}

/// Sets a mark, or removes it.
pub(super) async fn set_since(
    tx: &mut Transaction<'_>,
    mark: Mark,
    new: Option<Since>,
) -> Result<(), Fault> {
    if since(tx, mark).await? != new {
        let set = "WITH written AS (UPDATE article_inbox_meta SET value = $2, set_by = $3 WHERE name = $1 RETURNING 1)";
        let (at, by) = new.map_or((0, None), |Since { at, by, .. }| (to_millis(at), by));
        let set = Statement::new(set).with(mark.name().to_owned()).with(at);
        tx.write(set.with(by.map(String::from)), 1);
    }
    Ok(())
}

/// What the bodies in quarantine take of the budget for them.
pub(super) async fn quarantine_cost(tx: &mut Transaction<'_>) -> Result<u64, Fault> {
    let cost = "SELECT coalesce(sum(greatest(octet_length(b.body)::bigint, $1)), 0)::bigint \
        FROM article_inbox_entries AS e JOIN article_inbox_bodies AS b ON b.entry = e.id WHERE e.state = 'quarantined'";
    let cost = Statement::new(cost).with(MIN_QUARANTINE_COST.cast_signed());
    let cost: i64 = first(&tx.query(cost).await?)?.try_get(0)?;
    Ok(cost.unsigned_abs())
}

/// How many entries are in each state.
pub(super) async fn counts(tx: &mut Transaction<'_>) -> Result<Counts, Fault> {
    let count = "SELECT state, count(*) FROM article_inbox_entries GROUP BY state";
    let rows = tx.query(Statement::new(count)).await?;
    let count = |row: &Row| {
        // As an entry in a state of a newer version is shown.
        let state = State::from_name(text(row, 0)).unwrap_or(State::Dead);
        (state, number(row, 1).unsigned_abs())
    };
    Ok(rows.iter().map(count).collect())
}

/// How many entries there are for each state and group of causes.
pub(super) async fn causes(
    tx: &mut Transaction<'_>,
    requeued_at: Option<SystemTime>,
) -> Result<Vec<CauseCount>, Fault> {
    // An application's transaction that completes an entry leaves the group as it is.
    let select = "SELECT state, CASE WHEN state <> 'done' THEN cause_group END, count(*), min(since), max(since) \
        FROM article_inbox_entries WHERE ";
    let select = Statement::new(select);
    let select = match requeued_at {
        Some(at) => select.and("requeued_at = $1").with(to_millis(at)),
        None => select.and("state IN ('dead', 'unhandled', 'corrupt', 'quarantined')"),
    };
    let rows = tx.query(select.and(" GROUP BY 1, 2")).await?;
    let cause = |row: &Row| {
        CauseCount::new(
            State::from_name(text(row, 0)).unwrap_or(State::Dead),
            value::<&str>(row, 1).map(Into::into),
            number(row, 2).unsigned_abs(),
            from_millis(number(row, 3)),
            from_millis(number(row, 4)),
        )
    };
    Ok(rows.iter().map(cause).collect())
}

/// How many entries arrived and died in each hour, since this time.
pub(super) async fn hours(
    tx: &mut Transaction<'_>,
    since: SystemTime,
) -> Result<Vec<HourCount>, Fault> {
    let arrived = "SELECT received_at / $2, count(*) FROM \
        (SELECT received_at FROM article_inbox_entries ORDER BY id DESC LIMIT $3) AS newest \
        WHERE received_at >= $1 GROUP BY 1";
    let died = "SELECT since / $2, count(*) FROM article_inbox_entries WHERE state = 'dead' AND since >= $1 GROUP BY 1";
    let of = |select| Statement::new(select).with(to_millis(since)).with(MILLIS_PER_HOUR);
    let arrived = of(arrived).with(i64::from(HourCount::MAX_ENTRIES));
    let [arrived, died] = tx.query_all([arrived, of(died)]).await?;
    let counts = |rows: &[Row]| {
        rows.iter().map(|row| (number(row, 0), number(row, 1).unsigned_abs())).collect()
    };
    Ok(HourCount::collect(counts(&arrived), counts(&died)))
}

/// How many jobs are in each state, and how many of them were recovered. It must agree with [`LedgerCounts::add`], and so must the
/// next.
const STATES: &str = "SELECT state, count(*), count(*) FILTER (WHERE state = 'collected' AND collected_at <= $1 - $2 \
    AND (pushed_at IS NULL OR pushed_at > collected_at + $2)) FROM article_inbox_jobs GROUP BY state";

/// The figures of what is open.
const OPEN: &str = "SELECT \
    (SELECT min(expected_at) FROM article_inbox_jobs WHERE state IN ('expected', 'polling')), \
    (SELECT count(*) FROM article_inbox_jobs WHERE state IN ('expected', 'polling') AND expected_at <= $1 - $2), \
    (SELECT count(*) FROM article_inbox_intents WHERE state = 'ordering' AND at <= $1)";

/// The figures of the ledger.
pub(super) async fn ledger_counts(tx: &mut Transaction<'_>) -> Result<LedgerCounts, Fault> {
    let mut counts = LedgerCounts::default();
    let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    // A transaction knows its time once it has begun.
    tx.query_all([]).await?;
    let now = to_millis(tx.now());
    let states = Statement::new(STATES).with(now).with(millis(DELIVERY_PERIOD));
    let open = Statement::new(OPEN).with(now).with(millis(OVERDUE_AFTER));
    let [states, open] = tx.query_all([states, open]).await?;
    for row in &states {
        let state = JobState::from_name(text(row, 0)).unwrap_or_default();
        counts.states[state as usize] += number(row, 1).unsigned_abs();
        counts.recovered += number(row, 2).unsigned_abs();
    }
    let open = first(&open)?;
    counts.oldest_expected = value(open, 0).map(from_millis);
    counts.overdue = number(open, 1).unsigned_abs();
    counts.unknown_intents = number(open, 2).unsigned_abs();
    Ok(counts)
}
