CREATE TABLE article_inbox_meta (
    name text COLLATE "C" PRIMARY KEY,
    value bigint NOT NULL
);
INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 0);

CREATE TABLE article_inbox_entries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id text COLLATE "C" NOT NULL,
    event text COLLATE "C" NOT NULL,
    is_failure boolean NOT NULL GENERATED ALWAYS AS (event = 'generation failed') STORED,
    state text COLLATE "C" NOT NULL
        CHECK (state IN ('waiting', 'leased', 'done', 'dead', 'unhandled', 'corrupt')),
    attempts bigint NOT NULL,
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
) WITH (fillfactor = 60);
CREATE INDEX article_inbox_entries_waiting ON article_inbox_entries (is_failure, at, id) WHERE state = 'waiting';
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
ALTER TABLE article_inbox_bodies ALTER COLUMN body SET STORAGE EXTERNAL;

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
    missing bigint,
    missing_since bigint,
    pushed_at bigint,
    collected_at bigint,
    returned bytea,
    cause text,
    lane smallint
);
CREATE INDEX article_inbox_jobs_by_lane ON article_inbox_jobs (lane, at, id) WHERE lane IS NOT NULL;
CREATE INDEX article_inbox_jobs_open ON article_inbox_jobs (expected_at) WHERE lane IS NOT NULL;
CREATE INDEX article_inbox_jobs_ended ON article_inbox_jobs (at, id) WHERE lane IS NULL;
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

-- One row, which is locked while the bucket changes. Its value is NULL before the first use.
CREATE TABLE article_inbox_bucket (
    id smallint PRIMARY KEY CHECK (id = 1),
    value text
);
INSERT INTO article_inbox_bucket (id) VALUES (1);
