-- The schema that the first version made, as its files have it.
CREATE TABLE article_inbox_meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 0), ('probes', 0);

CREATE TABLE article_inbox_entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL,
    event TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'done', 'dead', 'unhandled', 'corrupt')),
    attempts INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    conflicts INTEGER NOT NULL,
    held INTEGER NOT NULL,
    cause TEXT,
    UNIQUE (job_id, event)
) STRICT;
CREATE INDEX article_inbox_entries_by_time ON article_inbox_entries (state, at);
CREATE INDEX article_inbox_entries_held ON article_inbox_entries (at) WHERE state = 'done' AND held > 0;
CREATE INDEX article_inbox_entries_stuck ON article_inbox_entries (state, id)
    WHERE state IN ('dead', 'unhandled', 'corrupt');
CREATE INDEX article_inbox_entries_other ON article_inbox_entries (event, id)
    WHERE event <> 'article.complete';

CREATE TABLE article_inbox_bodies (
    slot INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    intent TEXT,
    digest BLOB NOT NULL,
    body BLOB
) STRICT;

CREATE TABLE article_inbox_hints (
    job_id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    code TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX article_inbox_hints_by_time ON article_inbox_hints (at, job_id);
UPDATE article_inbox_meta SET value = 1 WHERE name = 'schema';
