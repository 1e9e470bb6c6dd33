CREATE TABLE article_inbox_meta (
    name text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);
-- Claims hand out nothing while `paused` is a time in milliseconds and not 0.
INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 0), ('paused', 0);

CREATE TABLE article_inbox_entries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id text COLLATE "C" NOT NULL,
    event text COLLATE "C" NOT NULL,
    is_failure boolean NOT NULL GENERATED ALWAYS AS (event = 'generation failed') STORED,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('waiting', 'leased', 'done', 'dead', 'unhandled', 'corrupt')),
    attempts bigint NOT NULL,
    is_retry boolean NOT NULL GENERATED ALWAYS AS (attempts > 0) STORED,
    fence bigint NOT NULL,
    at bigint NOT NULL,
    lease_end bigint NOT NULL,
    since bigint NOT NULL,
    received_at bigint NOT NULL,
    interrupted bigint NOT NULL,
    conflicts bigint NOT NULL,
    has_bytes boolean NOT NULL,
    cause text,
    failures text,
    UNIQUE (job_id, event)
)
-- Each entry changes twice or more, so vacuum follows soon however many done ones there are.
WITH (
    fillfactor = 60,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.02
);
CREATE INDEX article_inbox_entries_waiting ON article_inbox_entries (is_failure, is_retry, at, id)
    WHERE state = 'waiting';
CREATE INDEX article_inbox_entries_leased ON article_inbox_entries (id) WHERE state = 'leased';
CREATE INDEX article_inbox_entries_done ON article_inbox_entries (at, id) WHERE state = 'done';
CREATE INDEX article_inbox_entries_held ON article_inbox_entries (at, id) WHERE state = 'done' AND has_bytes;
CREATE INDEX article_inbox_entries_stuck ON article_inbox_entries (state, at, id)
    WHERE state IN ('dead', 'unhandled', 'corrupt');

CREATE TABLE article_inbox_bodies (
    entry bigint NOT NULL,
    slot smallint NOT NULL,
    received_at bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    intent text COLLATE "C",
    digest bytea NOT NULL,
    body bytea,
    PRIMARY KEY (entry, slot)
);
-- Measured with articles of 16 KB, 64 waiting (the bench's part `storage`), as ratios to no compression: lz4 stores 1.4 times as
-- many a second on half the disk and two thirds of the log, and the default, pglz, 0.6 times as many. Both are read as fast.
-- Where a server has no lz4, as all before version 14, bodies are not compressed.
DO $$
BEGIN
    EXECUTE 'ALTER TABLE article_inbox_bodies ALTER COLUMN body SET COMPRESSION lz4';
EXCEPTION WHEN syntax_error OR feature_not_supported OR invalid_parameter_value THEN
    ALTER TABLE article_inbox_bodies ALTER COLUMN body SET STORAGE EXTERNAL;
END
$$;

-- Jobs and intents are numbered together.
CREATE SEQUENCE article_inbox_ledger_ids;

CREATE TABLE article_inbox_jobs (
    id bigint PRIMARY KEY DEFAULT nextval('article_inbox_ledger_ids'),
    job_id text COLLATE "C" NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('expected', 'asking', 'arrived', 'collected', 'failed', 'unreadable', 'not_found')),
    reason text COLLATE "C" NOT NULL,
    intent text COLLATE "C",
    expected_at bigint NOT NULL,
    at bigint NOT NULL,
    asks bigint NOT NULL,
    fence bigint NOT NULL,
    key bigint,
    missing bigint,
    missing_since bigint,
    pushed_at bigint,
    collected_at bigint,
    unreadable_since bigint,
    returned bytea,
    cause text,
    is_open boolean NOT NULL GENERATED ALWAYS AS (state IN ('expected', 'asking')) STORED
);
CREATE INDEX article_inbox_jobs_by_time ON article_inbox_jobs (at, id) WHERE is_open;
CREATE INDEX article_inbox_jobs_open ON article_inbox_jobs (expected_at) WHERE is_open;
CREATE INDEX article_inbox_jobs_ended ON article_inbox_jobs (at, id) WHERE NOT is_open;
CREATE INDEX article_inbox_jobs_of_intent ON article_inbox_jobs (intent, id) WHERE intent IS NOT NULL;

CREATE TABLE article_inbox_intents (
    id bigint PRIMARY KEY DEFAULT nextval('article_inbox_ledger_ids'),
    name text COLLATE "C" NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL CHECK (state IN ('ordering', 'ordered', 'abandoned')),
    created_at bigint NOT NULL,
    at bigint NOT NULL,
    fence bigint NOT NULL,
    job_id text COLLATE "C",
    forgotten bytea NOT NULL
);
CREATE INDEX article_inbox_intents_by_time ON article_inbox_intents (state, at, id);
CREATE INDEX article_inbox_intents_of_job ON article_inbox_intents (job_id) WHERE job_id IS NOT NULL;

-- One row, which is locked while the bucket changes. Its value is `Bucket::to_json` of `article-webhook-inbox`, and NULL before
-- the first use.
CREATE TABLE article_inbox_bucket (
    id smallint PRIMARY KEY CHECK (id = 1),
    value text
);
INSERT INTO article_inbox_bucket (id) VALUES (1);

-- What a delivery, the end of an attempt and a claim mostly are, each as one statement: it takes one round trip, and a server
-- plans what is in a function once for each connection. The first two are transactions of their own. The plans are right for tables of any size,
-- also if they were made while the tables were empty. The costs that forbid the other plans would ask for compilation.

-- Adds entries that are new and of which the ledger knows nothing, with their first bodies, and returns their places in the
-- columns. It must agree with `Row::new` of `article-webhook-inbox`. An insertion waits for another transaction that adds the same key,
-- and callers sort the keys, so that two of them do not wait for each other. It would also wait for one that changes the entry
-- of the key, such as an application's, so keys that are there are left out before. An intent is there before its order, so an
-- article never comes before it.
CREATE OR REPLACE FUNCTION article_inbox_record(
    schema_name text, lock_millis integer, given_now bigint, job_ids text[], events text[], sources text[], targets text[],
    intents text[], digests bytea[], bodies bytea[]
) RETURNS SETOF bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    now bigint;
    new_entry bigint;
BEGIN
    -- Under another isolation it would not see what it has waited for. A transaction that names its isolation follows.
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RETURN;
    END IF;
    -- For this transaction, as BEGIN sets it for others. A warning of a trigger is not heard.
    PERFORM set_config('search_path', schema_name || ', pg_temp', true),
        set_config('lock_timeout', lock_millis::text, true),
        set_config('client_min_messages', 'error', true), set_config('row_security', 'off', true),
        CASE WHEN current_setting('synchronous_commit') <> 'remote_apply' THEN set_config('synchronous_commit', 'on', true) END;
    -- As in `job_locks.rs`.
    PERFORM pg_advisory_xact_lock_shared('article_inbox_meta'::regclass::oid::int, stripe) FROM (
        SELECT DISTINCT hashtext(a.job_id) & 63 AS stripe FROM unnest(job_ids, events) AS a (job_id, event)
        WHERE a.event = 'article.complete' ORDER BY stripe
    ) AS stripes;
    now := coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    FOR place IN 1..cardinality(job_ids) LOOP
        INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, interrupted,
            conflicts, has_bytes)
        SELECT job_ids[place], events[place], 'waiting', 0, 0, now, now, now, now, 0, 0, true
        WHERE NOT EXISTS (SELECT FROM article_inbox_entries e WHERE e.job_id = job_ids[place] AND e.event = events[place])
            AND NOT EXISTS (SELECT FROM article_inbox_jobs j WHERE j.job_id = job_ids[place])
            AND NOT EXISTS (SELECT FROM article_inbox_intents i WHERE i.name = intents[place])
        ON CONFLICT (job_id, event) DO NOTHING RETURNING id INTO new_entry;
        IF FOUND THEN
            INSERT INTO article_inbox_bodies (entry, slot, received_at, source, target, intent, digest, body)
            VALUES (new_entry, 0, now, sources[place], targets[place], intents[place], digests[place], bodies[place]);
            IF NOT FOUND THEN
                RAISE 'a body is not written';
            END IF;
            RETURN NEXT place;
        END IF;
    END LOOP;
    PERFORM set_config('client_min_messages', 'warning', true);
END
$$;

-- Completes entries whose leases hold, and returns their places in the columns; and those of entries that are done under them
-- already, because an application has completed them in its own transaction, as negative numbers. These are only read, so that
-- their commit writes nothing. It must agree with `Row::settle` of `article-webhook-inbox` for `Outcome::Done`.
--
-- A claim of another node locks an entry that it finds leased just now, and keeps the lock until its commit. So what is locked is
-- looked for four times, within 14 ms, and the others of the call wait for it as long. What is locked for longer, by a transaction
-- of an application, is left, also if it is done by then: what is done already is looked for only before.
CREATE OR REPLACE FUNCTION article_inbox_complete(schema_name text, lock_millis integer, given_now bigint, ids bigint[], fences bigint[])
RETURNS SETOF bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
    now bigint;
    held bigint[];
    places bigint[];
    some_locked boolean;
    written bigint;
BEGIN
    -- Under another isolation it would not see what it has waited for. A transaction that names its isolation follows.
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RETURN;
    END IF;
    -- For this transaction, as BEGIN sets it for others. A warning of a trigger is not heard.
    PERFORM set_config('search_path', schema_name || ', pg_temp', true),
        set_config('lock_timeout', lock_millis::text, true),
        set_config('client_min_messages', 'error', true), set_config('row_security', 'off', true),
        CASE WHEN current_setting('synchronous_commit') <> 'remote_apply' THEN set_config('synchronous_commit', 'on', true) END;
    -- Entries are looked for by their ids alone (`OFFSET 0`): if the state were looked for too, the server could choose an index of
    -- that state, which does not begin with the id, while it is small.
    RETURN QUERY SELECT -a.place FROM unnest(ids, fences) WITH ORDINALITY AS a (id, fence, place)
        CROSS JOIN LATERAL (SELECT * FROM article_inbox_entries e WHERE e.id = a.id OFFSET 0) AS e
        WHERE e.state = 'done' AND e.fence = a.fence;
    FOR pause IN 1..4 LOOP
        now := coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
        SELECT array_agg(a.id) FILTER (WHERE e.state = 'leased' AND e.fence = a.fence AND e.lease_end > now),
            array_agg(a.place) FILTER (WHERE e.state = 'leased' AND e.fence = a.fence AND e.lease_end > now),
            bool_or(e.id IS NULL)
        INTO held, places, some_locked FROM
            (SELECT u.id, u.fence, min(u.place) AS place FROM unnest(ids, fences) WITH ORDINALITY AS u (id, fence, place)
                GROUP BY u.id, u.fence) AS a
            CROSS JOIN LATERAL (SELECT * FROM article_inbox_entries e WHERE e.id = a.id OFFSET 0) AS seen
            LEFT JOIN LATERAL
                (SELECT * FROM article_inbox_entries e WHERE e.id = seen.id OFFSET 0 FOR UPDATE SKIP LOCKED) AS e ON true
            WHERE seen.state = 'leased' AND seen.fence = a.fence;
        UPDATE article_inbox_entries e SET state = 'done', at = now, since = now, interrupted = 0, cause = NULL
            WHERE e.id = ANY (held);
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> coalesce(cardinality(held), 0) THEN
            RAISE 'an entry is not written';
        END IF;
        RETURN QUERY SELECT unnest(places);
        EXIT WHEN some_locked IS NOT TRUE OR pause = 4;
        PERFORM pg_sleep(0.001 * 2 ^ pause);
    END LOOP;
    PERFORM set_config('client_min_messages', 'warning', true);
END
$$;

-- What a claim mostly is: it leases articles that wait, in the order of `Claim::order`, and returns a row for each body, or one for
-- an entry without any, and then a row without an entry, which says how the search went: `read` is NULL while claims are paused. It
-- leases nothing and returns nothing if a failure that is wanted is due, if a lease that is looked at has ended, or if one of the
-- entries was interrupted, has no attempt left, or has a number that no rule gives. It must agree with `Claiming` of
-- `article-webhook-inbox` for all others. The commit is not waited for, as in `sql::NEXT`.
CREATE OR REPLACE FUNCTION article_inbox_claim(
    schema_name text, lock_millis integer, idle_millis integer, given_now bigint, most integer, lease_millis bigint, most_attempts bigint,
    with_failures boolean, retries_first boolean, from_new bigint, from_retry bigint, with_leased boolean,
    OUT id bigint, OUT job_id text, OUT event text, OUT received_at bigint, OUT state text, OUT attempts bigint, OUT fence bigint,
    OUT at bigint, OUT lease_end bigint, OUT since bigint, OUT interrupted bigint, OUT conflicts bigint, OUT cause text,
    OUT failures text, OUT body_received_at bigint, OUT source text, OUT target text, OUT intent text, OUT digest bytea,
    OUT body bytea, OUT now bigint, OUT new_up_to bigint, OUT retry_up_to bigint, OUT next_due bigint, OUT failures_wait boolean, OUT read bigint
) RETURNS SETOF record LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_variable
DECLARE
    read_before bigint;
    is_other boolean;
    takes_retries boolean;
    wanted bigint;
    of_kind bigint[];
    last_at bigint;
    claimed bigint[] := '{}';
    written bigint;
BEGIN
    PERFORM set_config('search_path', schema_name || ', pg_temp', true), set_config('lock_timeout', lock_millis::text, true),
        set_config('idle_in_transaction_session_timeout', idle_millis::text, true), set_config('synchronous_commit', 'off', true),
        set_config('row_security', 'off', true);
    now := coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    read_before := coalesce(pg_stat_get_xact_tuples_returned('article_inbox_entries_waiting'::regclass)
        + pg_stat_get_xact_tuples_returned('article_inbox_entries_leased'::regclass), 0);
    IF EXISTS (SELECT FROM article_inbox_meta m WHERE m.name = 'paused' AND m.value <> 0) THEN
        RETURN NEXT;
        RETURN;
    END IF;
    -- A failure that is wanted is looked for where the other claim would look for it.
    failures_wait := EXISTS (SELECT FROM article_inbox_entries e WHERE e.state = 'waiting' AND e.is_failure AND NOT e.is_retry
            AND e.at <= now AND e.at >= CASE WHEN with_failures THEN from_new ELSE -9223372036854775808 END)
        OR EXISTS (SELECT FROM article_inbox_entries e WHERE e.state = 'waiting' AND e.is_failure AND e.is_retry
            AND e.at <= now AND e.at >= CASE WHEN with_failures THEN from_retry ELSE -9223372036854775808 END);
    IF with_leased THEN
        SELECT min(e.lease_end) FILTER (WHERE with_failures OR NOT e.is_failure),
            failures_wait OR coalesce(bool_or(e.is_failure AND e.lease_end <= now), false)
        INTO next_due, failures_wait FROM article_inbox_entries e WHERE e.state = 'leased';
    END IF;
    IF next_due <= now OR (with_failures AND failures_wait) THEN
        RETURN;
    END IF;
    FOREACH takes_retries IN ARRAY ARRAY[retries_first, NOT retries_first] LOOP
        wanted := most - cardinality(claimed);
        SELECT array_agg(w.id), max(w.at), bool_or(w.interrupted <> 0 OR w.attempts NOT BETWEEN 0 AND most_attempts - 1
            OR w.conflicts NOT BETWEEN 0 AND 4294967295 OR w.fence NOT BETWEEN 0 AND 9223372036854775806)
        INTO of_kind, last_at, is_other FROM (
            SELECT * FROM article_inbox_entries e WHERE e.state = 'waiting' AND NOT e.is_failure AND e.is_retry = takes_retries
                AND e.at >= CASE WHEN takes_retries THEN from_retry ELSE from_new END AND e.at <= now
            ORDER BY e.at, e.id LIMIT wanted FOR UPDATE SKIP LOCKED
        ) AS w;
        IF is_other THEN
            RETURN;
        END IF;
        -- A list that was not read to its end may go on after its last one.
        IF coalesce(cardinality(of_kind), 0) < wanted THEN
            last_at := now;
        END IF;
        IF takes_retries THEN
            retry_up_to := last_at;
        ELSE
            new_up_to := last_at;
        END IF;
        claimed := claimed || of_kind;
    END LOOP;
    UPDATE article_inbox_entries e SET state = 'leased', attempts = e.attempts + 1, fence = greatest(e.fence + 1, now), at = now,
        lease_end = now + lease_millis, since = now WHERE e.id = ANY (claimed);
    GET DIAGNOSTICS written = ROW_COUNT;
    IF written <> cardinality(claimed) THEN
        RAISE 'an entry is not written';
    END IF;
    RETURN QUERY SELECT e.id, e.job_id, e.event, e.received_at, e.state, e.attempts, e.fence, e.at, e.lease_end, e.since,
            e.interrupted, e.conflicts, e.cause, e.failures, b.received_at, b.source, b.target, b.intent, b.digest, b.body,
            now, NULL::bigint, NULL::bigint, NULL::bigint, NULL::boolean, NULL::bigint
        FROM unnest(claimed) AS c (id)
        CROSS JOIN LATERAL (SELECT * FROM article_inbox_entries e WHERE e.id = c.id OFFSET 0) AS e
        LEFT JOIN LATERAL (SELECT * FROM article_inbox_bodies b WHERE b.entry = c.id ORDER BY b.slot OFFSET 0) AS b ON true;
    next_due := least(next_due,
        (SELECT min(e.at) FROM article_inbox_entries e WHERE e.state = 'waiting' AND NOT e.is_failure AND NOT e.is_retry
            AND e.at >= from_new),
        (SELECT min(e.at) FROM article_inbox_entries e WHERE e.state = 'waiting' AND NOT e.is_failure AND e.is_retry
            AND e.at >= from_retry));
    IF with_failures THEN
        next_due := least(next_due,
            (SELECT min(e.at) FROM article_inbox_entries e WHERE e.state = 'waiting' AND e.is_failure AND NOT e.is_retry
                AND e.at >= from_new),
            (SELECT min(e.at) FROM article_inbox_entries e WHERE e.state = 'waiting' AND e.is_failure AND e.is_retry
                AND e.at >= from_retry));
    END IF;
    read := coalesce(pg_stat_get_xact_tuples_returned('article_inbox_entries_waiting'::regclass)
        + pg_stat_get_xact_tuples_returned('article_inbox_entries_leased'::regclass), 0) - read_before;
    RETURN NEXT;
END
$$;

-- What other claims do, planned once for each connection. These functions run in transactions that have set the search path.

-- Selects entries that `Row::is_due` of `article-webhook-inbox` accepts, those of failures if they are wanted, and locks them. What
-- another claim or another program has locked is left. The condition is checked again on a row that changed meanwhile. Waiting
-- ones are searched from these times on, and leases that have ended only if that is wanted. New articles, articles that had an
-- attempt, failures of both kinds, and leases each have the limit.
CREATE OR REPLACE FUNCTION article_inbox_due(
    until bigint, most bigint, with_failures boolean, from_new bigint, from_retry bigint, with_leased boolean
) RETURNS SETOF article_inbox_entries LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_variable
BEGIN
    RETURN QUERY SELECT e.* FROM article_inbox_entries e WHERE e.state = 'waiting' AND NOT e.is_failure AND NOT e.is_retry
        AND e.at >= from_new AND e.at <= until ORDER BY e.at, e.id LIMIT most FOR UPDATE SKIP LOCKED;
    RETURN QUERY SELECT e.* FROM article_inbox_entries e WHERE e.state = 'waiting' AND NOT e.is_failure AND e.is_retry
        AND e.at >= from_retry AND e.at <= until ORDER BY e.at, e.id LIMIT most FOR UPDATE SKIP LOCKED;
    IF with_failures THEN
        RETURN QUERY SELECT e.* FROM article_inbox_entries e WHERE e.state = 'waiting' AND e.is_failure AND NOT e.is_retry
            AND e.at >= from_new AND e.at <= until ORDER BY e.at, e.id LIMIT most FOR UPDATE SKIP LOCKED;
        RETURN QUERY SELECT e.* FROM article_inbox_entries e WHERE e.state = 'waiting' AND e.is_failure AND e.is_retry
            AND e.at >= from_retry AND e.at <= until ORDER BY e.at, e.id LIMIT most FOR UPDATE SKIP LOCKED;
    END IF;
    IF with_leased THEN
        RETURN QUERY SELECT e.* FROM article_inbox_entries e WHERE e.state = 'leased' AND (with_failures OR NOT e.is_failure)
            AND e.lease_end <= until ORDER BY e.lease_end, e.id LIMIT most FOR UPDATE SKIP LOCKED;
    END IF;
END
$$;

-- When the next entry is due that was not claimed now, and whether a failure is due, as far as the claim has looked.
CREATE OR REPLACE FUNCTION article_inbox_next(
    claimed bigint[], with_failures boolean, until bigint, from_new bigint, from_retry bigint, with_leased boolean,
    OUT next_due bigint, OUT failures_wait boolean
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off SET enable_bitmapscan = off AS $$
#variable_conflict use_variable
BEGIN
    next_due := least(
        (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND NOT is_retry AND at >= from_new),
        (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND NOT is_failure AND is_retry AND at >= from_retry));
    failures_wait := EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND NOT is_retry AND at <= until)
        OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND is_retry AND at <= until);
    IF with_failures THEN
        next_due := least(next_due,
            (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND NOT is_retry AND at >= from_new),
            (SELECT min(at) FROM article_inbox_entries WHERE state = 'waiting' AND is_failure AND is_retry AND at >= from_retry));
    END IF;
    IF with_leased THEN
        next_due := least(next_due, (SELECT min(lease_end) FROM article_inbox_entries WHERE state = 'leased'
            AND (with_failures OR NOT is_failure) AND id <> ALL(claimed)));
        failures_wait := failures_wait
            OR EXISTS (SELECT FROM article_inbox_entries WHERE state = 'leased' AND is_failure AND lease_end <= until);
    END IF;
END
$$;

-- Writes the rows of entries that were claimed or settled.
CREATE OR REPLACE FUNCTION article_inbox_save(
    ids bigint[], states text[], attempts bigint[], fences bigint[], ats bigint[], lease_ends bigint[], sinces bigint[],
    interrupted bigint[], causes text[], failures text[]
) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
BEGIN
    FOR place IN 1..cardinality(ids) LOOP
        UPDATE article_inbox_entries e SET state = states[place], attempts = article_inbox_save.attempts[place],
            fence = fences[place], at = ats[place], lease_end = lease_ends[place], since = sinces[place],
            interrupted = article_inbox_save.interrupted[place], cause = causes[place],
            failures = article_inbox_save.failures[place] WHERE e.id = ids[place];
        IF NOT FOUND THEN
            RAISE 'an entry is not written';
        END IF;
    END LOOP;
END
$$;
