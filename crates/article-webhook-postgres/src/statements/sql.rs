//! The statements that more than one call uses, and those that decide by themselves.

/// The columns of an entry, in the order in which `rows::stored` reads them. They always have the name of the table,
/// because a join may have another column of the name.
macro_rules! entry {
    () => {
        "e.id, e.job_id, e.event, e.received_at, e.state, e.attempts, e.fence, e.at, e.lease_end, e.since, e.interrupted, \
         e.conflicts, e.cause, e.failures"
    };
}

pub(super) use entry;

/// The database's time in milliseconds, or that of a test's clock in the parameter of this number.
macro_rules! now {
    ($parameter:literal) => {
        concat!(
            "coalesce(",
            $parameter,
            "::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)"
        )
    };
}

mod insert;

pub(super) use insert::{record_new, record_unknown};

pub(super) const FIND: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.job_id = $1 AND e.event = $2"
);
/// Each is looked for by itself, for the reason of [`BODIES`].
pub(super) const FIND_ALL: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM unnest($1::text[], $2::text[]) AS wanted (job_id, event) CROSS JOIN LATERAL \
     (SELECT * FROM article_inbox_entries WHERE job_id = wanted.job_id AND event = wanted.event OFFSET 0) AS e"
);
pub(super) const LOCK_KEY: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.job_id = $1 AND e.event = $2 FOR UPDATE"
);
/// One that another transaction has locked is left.
pub(super) const LOCK_FREE_KEY: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.job_id = $1 AND e.event = $2 FOR UPDATE SKIP LOCKED"
);
pub(super) const LOCK: &str =
    concat!("SELECT ", entry!(), " FROM article_inbox_entries e WHERE e.id = $1 FOR UPDATE");
pub(super) const SAVE: &str = "UPDATE article_inbox_entries SET state = $2, attempts = $3, fence = $4, at = $5, \
    lease_end = $6, since = $7, interrupted = $8, conflicts = $9, cause = $10, failures = $11 WHERE id = $1";
pub(super) const ADD: &str = "INSERT INTO article_inbox_entries (job_id, event, received_at, state, attempts, fence, at, \
    lease_end, since, interrupted, conflicts, cause, failures, has_bytes) \
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 \
    WHERE NOT EXISTS (SELECT FROM article_inbox_entries WHERE job_id = $1 AND event = $2) \
    ON CONFLICT (job_id, event) DO NOTHING RETURNING id";

pub(super) const KNOWN_BODIES: &str = "SELECT b.slot, b.digest, b.intent, b.source, b.entry FROM unnest($1::bigint[]) AS wanted (id) CROSS JOIN LATERAL \
    (SELECT * FROM article_inbox_bodies WHERE entry = wanted.id OFFSET 0) AS b ORDER BY b.entry, b.slot";
/// The bodies of each entry are looked for by themselves (`OFFSET 0`): before the first statistics the server takes many rows
/// for those of an entry, and would read the whole table.
pub(super) const BODIES: &str = "SELECT b.entry, b.received_at, b.source, b.target, b.intent, b.digest, b.body \
    FROM unnest($1::bigint[]) AS wanted (id) CROSS JOIN LATERAL \
    (SELECT * FROM article_inbox_bodies WHERE entry = wanted.id OFFSET 0) AS b ORDER BY b.entry, b.slot";
pub(super) const PUT_BODY: &str = "INSERT INTO article_inbox_bodies \
    (entry, slot, received_at, source, target, intent, digest, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (entry, slot) DO UPDATE SET received_at = $3, source = $4, target = $5, intent = $6, digest = $7, body = $8";
pub(super) const PUT_INTENT: &str =
    "UPDATE article_inbox_bodies SET intent = $3 WHERE entry = $1 AND slot = $2";
pub(super) const COUNT_HELD: &str = "UPDATE article_inbox_entries e SET has_bytes = EXISTS \
    (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id AND b.body IS NOT NULL) WHERE e.id = ANY($1)";

/// The bodies are named by their places, for the reason of [`BODIES`].
pub(super) const REMOVE: &str = "WITH gone AS (DELETE FROM article_inbox_entries WHERE id = ANY($1)) \
    DELETE FROM article_inbox_bodies WHERE ctid = ANY(ARRAY(SELECT b.ctid FROM unnest($1::bigint[]) AS gone (id) \
    CROSS JOIN LATERAL (SELECT ctid FROM article_inbox_bodies WHERE entry = gone.id OFFSET 0) AS b))";

/// Makes a transaction that changes nothing write a record of its own, so that its commit waits until everything before it
/// is safe, on synchronous standbys too.
pub(super) const WRITE_LOG: &str = "SELECT pg_logical_emit_message(true, 'article_inbox', '')";

/// How many entries of the indexes that claims search this connection has read.
macro_rules! read {
    () => {
        "coalesce(pg_stat_get_xact_tuples_returned('article_inbox_entries_waiting'::regclass) \
         + pg_stat_get_xact_tuples_returned('article_inbox_entries_leased'::regclass), 0)"
    };
}

/// Claims what [`claim_fast`](super::claim_fast) is asked for.
pub(super) fn claim(schema: &str, lock_millis: u32, idle_millis: u32) -> String {
    format!(
        concat!(
            "SELECT ",
            entry!(),
            ", body_received_at, source, target, intent, digest, body, now, new_up_to, retry_up_to, next_due, failures_wait, \
             read FROM {schema}.article_inbox_claim('{schema}', {lock_millis}, {idle_millis}, $1, $2, $3, $4, $5, $6, $7, $8, \
             $9) AS e"
        ),
        schema = schema,
        lock_millis = lock_millis,
        idle_millis = idle_millis
    )
}

/// Entries that are due, and locked; none while claims are paused. Each has the number of its list, because each list has the
/// limit. The time, how much the connection has read, and whether claims are paused are there also if nothing is due.
pub(super) const DUE: &str = concat!(
    "WITH clock AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now, ",
    read!(),
    " AS read, EXISTS (SELECT FROM article_inbox_meta WHERE name = 'paused' AND value <> 0) AS paused) SELECT ",
    entry!(),
    ", CASE WHEN e.state = 'leased' THEN 4 WHEN e.id IS NOT NULL THEN 2 * e.is_failure::int + e.is_retry::int END, \
     clock.now, clock.read, clock.paused FROM clock LEFT JOIN LATERAL \
     article_inbox_due(clock.now, CASE WHEN clock.paused THEN 0 ELSE $2 END, $3, $4, $5, $6) e ON true"
);

/// When the next entry is due that was not claimed now, whether a failure is due, and how much the connection has read.
///
/// The commit of a claim is not waited for. Should the server lose it, its entries are claimed again, under other fences: a fence
/// is no smaller than the time. What a handler then commits is written after the claim, and so never without it.
pub(super) const NEXT: &str = concat!(
    "SELECT next_due, failures_wait, ",
    read!(),
    ", set_config('synchronous_commit', 'off', true) FROM article_inbox_next($1, $2, $3, $4, $5, $6)"
);

/// Writes the rows of entries that were claimed or settled.
pub(super) const SAVE_ALL: &str =
    "SELECT article_inbox_save($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/// Completes what [`complete`](super::complete) is asked for.
pub(super) fn complete(schema: &str, lock_millis: u32) -> String {
    format!("SELECT {schema}.article_inbox_complete('{schema}', {lock_millis}, $1, $2, $3)")
}

/// What another transaction has locked is left out.
pub(super) const LOCK_FREE: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.id = ANY($1) ORDER BY e.id FOR UPDATE SKIP LOCKED"
);

pub(super) const LEASES: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.id = ANY($1) ORDER BY e.id"
);
/// A row that the application's transaction holds, because it completes the entry, is left as it is.
pub(super) const LOCK_LEASES: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.id = ANY($1) AND e.state = 'leased' ORDER BY e.id FOR UPDATE SKIP LOCKED"
);
pub(super) const EXTEND: &str = "UPDATE article_inbox_entries e SET lease_end = n.lease_end \
    FROM unnest($1::bigint[], $2::bigint[]) AS n (id, lease_end) WHERE e.id = n.id";

/// Must agree with [`Filter::accepts`](article_webhook_inbox::Filter::accepts). The server plans it anew for the values of each
/// call, so a condition that is not asked for costs nothing.
macro_rules! list {
    ($after:literal, $order:literal) => {
        concat!(
            "SELECT ",
            entry!(),
            ", b.target FROM article_inbox_entries e \
             LEFT JOIN article_inbox_bodies b ON b.entry = e.id AND b.slot = 0 WHERE e.id ",
            $after,
            " AND ($3 IS NULL OR e.state = $3) AND ($4 IS NULL OR e.event = $4) \
             AND ($5 IS NULL OR e.job_id = $5) AND ($6 IS NULL OR b.target = $6) \
             AND ($7 IS NULL OR e.received_at < $7) ORDER BY e.id",
            $order,
            " LIMIT $2"
        )
    };
}
pub(super) const LIST: &str = list!("> $1", "");
pub(super) const LIST_NEWEST: &str = list!("< $1", " DESC");

pub(super) const DUE_SINCE: &str = concat!(
    "WITH clock AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now) SELECT least(\
     (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND NOT is_retry \
        AND at <= (SELECT now FROM clock)), \
     (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND is_retry \
        AND at <= (SELECT now FROM clock)), \
     (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND NOT is_retry \
        AND at <= (SELECT now FROM clock)), \
     (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND is_retry \
        AND at <= (SELECT now FROM clock)), \
     (SELECT min(lease_end) FROM article_inbox_entries WHERE state = 'leased' AND lease_end <= (SELECT now FROM clock)))"
);

/// Tells the other nodes, if the last parameter is true or an entry waits that is due. One that was just stored has not been due
/// for long, so the index is not read from its beginning, which may be full of what was claimed.
pub(super) const NOTIFY: &str = concat!(
    "WITH clock AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now) SELECT set_config('synchronous_commit', 'off', true), pg_notify($2, $3) WHERE $4 \
     OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND NOT is_retry \
     AND at BETWEEN (SELECT now - 20000 FROM clock) AND (SELECT now FROM clock)) \
     OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND is_retry \
     AND at BETWEEN (SELECT now - 20000 FROM clock) AND (SELECT now FROM clock)) \
     OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND NOT is_retry \
     AND at BETWEEN (SELECT now - 20000 FROM clock) AND (SELECT now FROM clock)) \
     OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND is_retry \
     AND at BETWEEN (SELECT now - 20000 FROM clock) AND (SELECT now FROM clock))"
);
