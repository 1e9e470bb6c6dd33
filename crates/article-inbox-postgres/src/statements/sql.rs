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

pub(super) const FIND: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.job_id = $1 AND e.event = $2"
);
pub(super) const LOCK_KEY: &str = concat!(
    "SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.job_id = $1 AND e.event = $2 FOR UPDATE"
);
pub(super) const LOCK: &str =
    concat!("SELECT ", entry!(), " FROM article_inbox_entries e WHERE e.id = $1 FOR UPDATE");
pub(super) const SAVE: &str = "UPDATE article_inbox_entries SET state = $2, attempts = $3, fence = $4, at = $5, \
    lease_end = $6, since = $7, interrupted = $8, conflicts = $9, cause = $10, failures = $11 WHERE id = $1";
pub(super) const ADD: &str = "INSERT INTO article_inbox_entries (job_id, event, received_at, state, attempts, fence, at, \
    lease_end, since, interrupted, conflicts, cause, failures, has_bytes) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
    ON CONFLICT (job_id, event) DO NOTHING RETURNING id";

pub(super) const KNOWN_BODIES: &str =
    "SELECT slot, digest, intent, source FROM article_inbox_bodies WHERE entry = $1 ORDER BY slot";
pub(super) const BODIES: &str = "SELECT entry, received_at, source, target, intent, digest, body \
    FROM article_inbox_bodies WHERE entry = ANY($1) ORDER BY entry, slot";
pub(super) const PUT_BODY: &str = "INSERT INTO article_inbox_bodies \
    (entry, slot, received_at, source, target, intent, digest, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
    ON CONFLICT (entry, slot) DO UPDATE SET received_at = $3, source = $4, target = $5, intent = $6, digest = $7, body = $8";
pub(super) const PUT_INTENT: &str =
    "UPDATE article_inbox_bodies SET intent = $3 WHERE entry = $1 AND slot = $2";
pub(super) const COUNT_HELD: &str = "UPDATE article_inbox_entries e SET has_bytes = EXISTS \
    (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id AND b.body IS NOT NULL) WHERE e.id = ANY($1)";

pub(super) const REMOVE: &str = "WITH gone AS (DELETE FROM article_inbox_entries WHERE id = ANY($1)) \
    DELETE FROM article_inbox_bodies WHERE entry = ANY($1)";

/// Adds the entries of a batch that are not there, with their first bodies, and returns their numbers in the batch. It
/// must agree with [`Row::new`](article_inbox::store::Row::new). The insertion waits for another transaction that adds the
/// same key; a batch is sorted, so that two of them do not wait for each other. It would also wait for one that changes the
/// entry of the key, such as an application's, so keys that are there are left out before. So are the articles of jobs that
/// [`JobRow::is_tombstone`](article_inbox::store::JobRow::is_tombstone) accepts, with which this must agree too.
pub(super) const RECORD_NEW: &str = concat!(
    "WITH clock AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), arrived AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], \
     $8::bytea[]) WITH ORDINALITY AS a (job_id, event, source, target, intent, digest, body, number)), \
     added AS (INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, \
     interrupted, conflicts, has_bytes) SELECT job_id, event, 'waiting', 0, 0, now, now, now, now, 0, 0, true \
     FROM arrived a, clock \
     WHERE NOT EXISTS (SELECT FROM article_inbox_entries e WHERE e.job_id = a.job_id AND e.event = a.event) \
     AND NOT (a.event = 'article.complete' AND EXISTS (SELECT FROM article_inbox_jobs j WHERE j.job_id = a.job_id \
     AND j.state IN ('arrived', 'collected'))) \
     ORDER BY number ON CONFLICT (job_id, event) DO NOTHING RETURNING id, job_id, event), \
     stored AS (INSERT INTO article_inbox_bodies (entry, slot, received_at, source, target, intent, digest, body) \
     SELECT id, 0, now, source, target, intent, digest, body FROM added JOIN arrived USING (job_id, event), clock) \
     SELECT number FROM added JOIN arrived USING (job_id, event)"
);

/// Makes a transaction that changes nothing write a record of its own, so that its commit waits until everything before it
/// is safe, on synchronous standbys too.
pub(super) const WRITE_LOG: &str = "SELECT pg_logical_emit_message(true, 'article_inbox', '')";

/// Selects entries that [`Row::is_due`](article_inbox::store::Row::is_due) accepts, those of failures if the first parameter
/// is true, and locks them. What another claim or another program has locked is left. The condition is checked again on a
/// row that changed meanwhile.
pub(super) const DUE: &str = concat!(
    "WITH clock AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), waiting AS MATERIALIZED (SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.state = 'waiting' AND NOT e.is_failure AND e.at <= (SELECT now FROM clock) \
     ORDER BY e.at, e.id LIMIT $2 FOR UPDATE SKIP LOCKED), \
     failures AS MATERIALIZED (SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE $3 AND e.state = 'waiting' AND e.is_failure \
     AND e.at <= (SELECT now FROM clock) ORDER BY e.at, e.id LIMIT $2 FOR UPDATE SKIP LOCKED), \
     leased AS MATERIALIZED (SELECT ",
    entry!(),
    " FROM article_inbox_entries e WHERE e.state = 'leased' AND ($3 OR NOT e.is_failure) \
     AND e.lease_end <= (SELECT now FROM clock) ORDER BY e.lease_end, e.id LIMIT $2 FOR UPDATE SKIP LOCKED) \
     SELECT due.*, clock.now FROM clock LEFT JOIN (SELECT * FROM waiting UNION ALL SELECT * FROM failures \
     UNION ALL SELECT * FROM leased) due ON true"
);

/// When the next entry is due that was not claimed now, and whether a failure is due.
pub(super) const NEXT: &str = "SELECT \
    least((SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure), \
    (SELECT min(at) FROM article_inbox_entries WHERE $2 AND state = 'waiting' AND is_failure), \
    (SELECT min(lease_end) FROM article_inbox_entries WHERE state = 'leased' AND ($2 OR NOT is_failure) \
    AND id <> ALL($1))), \
    EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND at <= $3) \
    OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'leased' AND is_failure AND lease_end <= $3)";

/// Writes the rows that a claim has decided about.
pub(super) const SAVE_ALL: &str = "UPDATE article_inbox_entries e SET state = n.state, attempts = n.attempts, \
    fence = n.fence, at = n.at, lease_end = n.lease_end, since = n.since, interrupted = n.interrupted, \
    cause = n.cause, failures = n.failures \
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], \
    $8::bigint[], $9::text[], $10::text[]) \
    AS n (id, state, attempts, fence, at, lease_end, since, interrupted, cause, failures) WHERE e.id = n.id";

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

/// Must agree with [`Filter::accepts`](article_inbox::Filter::accepts). The server plans it anew for the values of each
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
     (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND at <= (SELECT now FROM clock)), \
     (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND at <= (SELECT now FROM clock)), \
     (SELECT min(lease_end) FROM article_inbox_entries WHERE state = 'leased' AND lease_end <= (SELECT now FROM clock)))"
);
