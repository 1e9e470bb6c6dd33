//! Rows that a test writes by SQL, because there are many or because they are old.

/// Computes the checksums of rows that were written with none. The search path is that of the tables.
pub(crate) const SEAL: &str = "
CREATE FUNCTION pg_temp.bytes(number bigint) RETURNS bytea LANGUAGE sql AS $$
    SELECT string_agg(substr(int8send(number), 9 - place, 1), '' ORDER BY place) FROM generate_series(1, 8) place $$;
CREATE FUNCTION pg_temp.checksum(VARIADIC parts bytea[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT ('x' || string_agg(encode(substr(hash, 9 - place, 1), 'hex'), '' ORDER BY place))::bit(64)::bigint
    FROM generate_series(1, 8) place, (SELECT sha256(string_agg(pg_temp.bytes(length(part)) || part, '' ORDER BY number)) AS hash
        FROM unnest(parts) WITH ORDINALITY AS all_parts (part, number)) AS hashed $$;
UPDATE article_inbox_entries SET checksum = pg_temp.checksum(job_id::bytea, event::bytea, pg_temp.bytes(received_at), document::bytea)
    WHERE checksum = 0;
UPDATE article_inbox_bodies SET checksum = pg_temp.checksum(pg_temp.bytes(received_at), digest, document::bytea) WHERE checksum = 0;
UPDATE article_inbox_jobs SET checksum = pg_temp.checksum(job_id::bytea, document::bytea) WHERE checksum = 0;
UPDATE article_inbox_intents SET checksum = pg_temp.checksum(name::bytea, pg_temp.bytes(created_at), document::bytea)
    WHERE checksum = 0;
";
