CREATE TABLE article_inbox_meta (
    name text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL,
    set_by text COLLATE "C"
);
-- Claims hand out nothing while `paused` is a time in milliseconds and not 0; `set_by` names who paused them. Orders may be missing in the ledger while
-- `ledger_gaps` is one. The content of another inbox is still to be merged while `begun` is one.
INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 0), ('paused', 0), ('ledger_gaps', 0), ('begun', 0);

-- Entries, jobs and intents are numbered together.
CREATE SEQUENCE article_inbox_ids;

-- What changes often or is searched is in columns. The rest of a row is in its document.
CREATE TABLE article_inbox_entries (
    id bigint PRIMARY KEY DEFAULT nextval('article_inbox_ids'),
    job_id text COLLATE "C" NOT NULL,
    event text COLLATE "C" NOT NULL,
    is_failure boolean NOT NULL GENERATED ALWAYS AS (event = 'generation failed') STORED,
    received_at bigint NOT NULL,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('waiting', 'leased', 'done', 'dead', 'unhandled', 'corrupt', 'quarantined')),
    attempts bigint NOT NULL,
    is_retry boolean NOT NULL GENERATED ALWAYS AS (attempts > 0) STORED,
    fence bigint NOT NULL,
    at bigint NOT NULL,
    lease_end bigint NOT NULL,
    since bigint NOT NULL,
    held bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    search text COLLATE "C" NOT NULL DEFAULT '',
    cause_group text COLLATE "C",
    requeued_at bigint,
    document text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL,
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
CREATE INDEX article_inbox_entries_leased ON article_inbox_entries (is_failure, lease_end, id)
    WHERE state = 'leased';
CREATE INDEX article_inbox_entries_done ON article_inbox_entries (at, id) WHERE state = 'done';
CREATE INDEX article_inbox_entries_held ON article_inbox_entries (at, id) WHERE state = 'done' AND held > 0;
CREATE INDEX article_inbox_entries_stuck ON article_inbox_entries (state, at, id)
    WHERE state IN ('dead', 'unhandled', 'corrupt', 'quarantined');
CREATE INDEX article_inbox_entries_stuck_by_id ON article_inbox_entries (state, id)
    WHERE state IN ('dead', 'unhandled', 'corrupt', 'quarantined');
CREATE INDEX article_inbox_entries_causes ON article_inbox_entries (state, cause_group, since)
    WHERE state IN ('dead', 'unhandled', 'corrupt', 'quarantined');
CREATE INDEX article_inbox_entries_requeued ON article_inbox_entries (requeued_at) WHERE requeued_at IS NOT NULL;

CREATE TABLE article_inbox_bodies (
    entry bigint NOT NULL,
    slot smallint NOT NULL,
    received_at bigint NOT NULL,
    digest bytea NOT NULL,
    document text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL,
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

CREATE TABLE article_inbox_jobs (
    id bigint PRIMARY KEY DEFAULT nextval('article_inbox_ids'),
    job_id text COLLATE "C" NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('expected', 'polling', 'arrived', 'collected', 'failed', 'unreadable', 'not_found')),
    intent text COLLATE "C",
    expected_at bigint NOT NULL,
    at bigint NOT NULL,
    polls bigint NOT NULL,
    fence bigint NOT NULL,
    pushed_at bigint,
    collected_at bigint,
    document text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL
);
CREATE INDEX article_inbox_jobs_due ON article_inbox_jobs (at, id) WHERE state IN ('expected', 'polling');
CREATE INDEX article_inbox_jobs_open ON article_inbox_jobs (expected_at) WHERE state IN ('expected', 'polling');
CREATE INDEX article_inbox_jobs_ended ON article_inbox_jobs (at, id) WHERE state NOT IN ('expected', 'polling');
CREATE INDEX article_inbox_jobs_of_intent ON article_inbox_jobs (intent, id) WHERE intent IS NOT NULL;

CREATE TABLE article_inbox_intents (
    id bigint PRIMARY KEY DEFAULT nextval('article_inbox_ids'),
    name text COLLATE "C" NOT NULL UNIQUE,
    state text COLLATE "C" NOT NULL CHECK (state IN ('ordering', 'ordered', 'abandoned')),
    created_at bigint NOT NULL,
    at bigint NOT NULL,
    fence bigint NOT NULL,
    job_id text COLLATE "C",
    document text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL
);
CREATE INDEX article_inbox_intents_by_time ON article_inbox_intents (state, at, id);
CREATE INDEX article_inbox_intents_of_job ON article_inbox_intents (job_id) WHERE job_id IS NOT NULL;

-- One row, which is locked while the bucket changes. Its value is NULL before the first use.
CREATE TABLE article_inbox_bucket (
    id smallint PRIMARY KEY CHECK (id = 1),
    value text
);
INSERT INTO article_inbox_bucket (id) VALUES (1);
