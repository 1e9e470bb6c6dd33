//! Rows that a test writes by SQL, because there are many or because they are old.

/// Computes the checksums of rows that were written with none. The search path is that of the tables.
pub(crate) const SEAL: &str = "
CREATE FUNCTION pg_temp.reversed(eight bytea) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
    SELECT substr(eight, 8, 1) || substr(eight, 7, 1) || substr(eight, 6, 1) || substr(eight, 5, 1)
        || substr(eight, 4, 1) || substr(eight, 3, 1) || substr(eight, 2, 1) || substr(eight, 1, 1) $$;
CREATE FUNCTION pg_temp.bytes(number bigint) RETURNS bytea IMMUTABLE LANGUAGE sql AS $$
    SELECT pg_temp.reversed(int8send(number)) $$;
CREATE FUNCTION pg_temp.checksum(VARIADIC parts bytea[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT ('x' || encode(pg_temp.reversed(substr(sha256(string_agg(pg_temp.bytes(length(part)) || part, '' ORDER BY number)), 1, 8)),
        'hex'))::bit(64)::bigint FROM unnest(parts) WITH ORDINALITY AS all_parts (part, number) $$;
UPDATE article_inbox_entries SET checksum = pg_temp.checksum(job_id::bytea, event::bytea, pg_temp.bytes(received_at), document::bytea)
    WHERE checksum = 0;
UPDATE article_inbox_bodies SET checksum = pg_temp.checksum(pg_temp.bytes(received_at), digest, document::bytea) WHERE checksum = 0;
UPDATE article_inbox_jobs SET checksum = pg_temp.checksum(job_id::bytea, document::bytea) WHERE checksum = 0;
UPDATE article_inbox_intents SET checksum = pg_temp.checksum(name::bytea, pg_temp.bytes(created_at), document::bytea)
    WHERE checksum = 0;
";
