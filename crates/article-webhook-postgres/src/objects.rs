//! What the inbox has in its schema, and what its role needs there.
//!
//! A trigger or a rule may skip a row in silence, a policy may hide it, and a crash empties a table without a log. A right that is
//! missing fails the statements that need it.

use std::sync::LazyLock;

use tokio_postgres::Row;

use crate::{
    fault::{Fault, NO_NUMBER, SET_SEQUENCE},
    settings::Purpose,
};

/// The tables and the sequence, with their kind as the server names it, and what the inbox does with them.
const OBJECTS: [(&str, char, &str); 7] = [
    ("article_inbox_bodies", 'r', "SELECT, INSERT, UPDATE, DELETE"),
    ("article_inbox_bucket", 'r', "SELECT, UPDATE"),
    ("article_inbox_entries", 'r', "SELECT, INSERT, UPDATE, DELETE"),
    ("article_inbox_ids", 'S', "USAGE"),
    ("article_inbox_intents", 'r', "SELECT, INSERT, UPDATE, DELETE"),
    ("article_inbox_jobs", 'r', "SELECT, INSERT, UPDATE, DELETE"),
    ("article_inbox_meta", 'r', "SELECT, UPDATE"),
];

/// What is wrong with the objects. Each is a sentence.
#[derive(Debug, Default)]
pub(crate) struct Defects {
    /// What is acknowledged may be lost or hidden.
    pub(crate) loses: Option<String>,
    /// An object is missing, or the sequence is at its end.
    pub(crate) absent: Option<String>,
    /// The role lacks rights.
    pub(crate) rights: Option<String>,
}

impl Defects {
    /// All of them. The first is the worst.
    pub(crate) fn all(self) -> impl Iterator<Item = String> {
        [self.loses, self.absent, self.rights].into_iter().flatten()
    }
}

/// The statement that looks at the objects of a schema, which is a plain name, and at the rights to them. Triggers that run before
/// each row may skip or change it.
pub(crate) fn check(schema: &str, purpose: Purpose) -> String {
    let objects = OBJECTS.map(|(name, kind, rights)| {
        let needed = match (purpose, kind) {
            (Purpose::Work, _) => rights,
            (Purpose::Read, 'S') => "",
            (Purpose::Read, _) => "SELECT",
        };
        format!("('{name}', '{kind}', '{needed}')")
    });
    format!(
        "SELECT name, c.oid IS NOT NULL AND c.relkind::text = kind, c.relpersistence = 'p', row_security_active(c.oid), \
            EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid), \
            (SELECT tgname::text FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal AND tgenabled <> 'D' \
                AND tgtype & 3 = 3 ORDER BY tgname LIMIT 1), \
            (SELECT string_agg(needed, ', ') FROM unnest(string_to_array(rights, ', ')) AS needed WHERE NOT \
                CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, needed) ELSE has_table_privilege(c.oid, needed) END), \
            (SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = '{schema}'), current_user::text, \
            (SELECT pg_sequence_last_value(seqrelid) > seqmax - seqincrement FROM pg_sequence \
                WHERE seqrelid = c.oid AND has_sequence_privilege(seqrelid, 'USAGE, SELECT')) \
        FROM (VALUES {}) AS object (name, kind, rights) LEFT JOIN \
            (pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = '{schema}') ON c.relname = name \
        ORDER BY name",
        objects.join(", ")
    )
}

/// The first of each kind of defect, by what the server says of the objects of a schema.
pub(crate) fn defects(schema: &str, rows: &[Row]) -> Result<Defects, Fault> {
    let (mut defects, mut missing) = (Defects::default(), Vec::new());
    let (mut role, mut may_use_schema) = ("", true);
    for row in rows {
        let name: &str = row.try_get(0)?;
        may_use_schema = row.try_get::<_, Option<bool>>(7)? != Some(false);
        role = row.try_get(8)?;
        if !row.try_get::<_, bool>(1)? {
            let absent = || format!("the schema \"{schema}\" has no {name}: restore it");
            defects.absent.get_or_insert_with(absent);
            continue;
        }
        if row.try_get::<_, Option<bool>>(9)? == Some(true) {
            let at_its_end = || format!("{NO_NUMBER}: {name} is at its end: {SET_SEQUENCE}");
            defects.absent.get_or_insert_with(at_its_end);
        }
        let (is_logged, is_hidden, has_rule): (bool, bool, bool) =
            (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        let (trigger, rights): (Option<&str>, Option<&str>) = (row.try_get(5)?, row.try_get(6)?);
        let loses = match trigger {
            _ if !is_logged => Some(unlogged(name)),
            _ if is_hidden => Some(format!(
                "row level security may hide rows of {name}: disable it, or give the role BYPASSRLS"
            )),
            _ if has_rule => Some(format!("a rule changes what is written to {name}: drop it")),
            Some(trigger) => Some(format!(
                "the trigger {trigger} may skip or change rows of {name}: drop it, or run it AFTER"
            )),
            None => None,
        };
        defects.loses = defects.loses.or(loses);
        missing.extend(rights.map(|rights| grant(schema, name, rights, role)));
    }
    if !may_use_schema {
        missing.insert(0, usage(schema, role));
    }
    if !missing.is_empty() {
        let grants = missing.join("; ");
        defects.rights =
            Some(format!("the role \"{role}\" lacks rights: as the owner of the tables, {grants}"));
    }
    Ok(defects)
}

/// The statements that give a role every right which the inbox needs in a schema.
pub(crate) fn grants(schema: &str, role: &str) -> Vec<String> {
    let of_objects = OBJECTS.map(|(name, _, rights)| grant(schema, name, rights, role));
    [usage(schema, role)].into_iter().chain(of_objects).collect()
}

/// What a transaction that writes begins with, in a schema as statements name it. Else it would lock a table more strongly after it
/// has read it, and wait for a `REINDEX` that has locked the table and waits for the reader of its indexes.
pub(crate) fn lock(schema: &str) -> String {
    let tables = OBJECTS.iter().filter(|(_, kind, _)| *kind == 'r');
    let tables: Vec<_> = tables.map(|(name, ..)| format!("{schema}.{name}")).collect();
    format!("LOCK TABLE {} IN ROW EXCLUSIVE MODE", tables.join(", "))
}

fn usage(schema: &str, role: &str) -> String {
    format!("GRANT USAGE ON SCHEMA \"{schema}\" TO {}", quoted(role))
}

fn grant(schema: &str, name: &str, rights: &str, role: &str) -> String {
    let is_sequence = OBJECTS.iter().any(|(known, kind, _)| *known == name && *kind == 'S');
    let kind = if is_sequence { "SEQUENCE " } else { "" };
    format!("GRANT {rights} ON {kind}\"{schema}\".{name} TO {}", quoted(role))
}

fn quoted(role: &str) -> String {
    format!("\"{}\"", role.replace('"', "\"\""))
}

/// Selects what a crash would empty. The answer holds until the end of a transaction that has read the tables, and so keeps
/// others from altering them.
pub(crate) static UNLOGGED: LazyLock<String> = LazyLock::new(|| {
    let names = OBJECTS.map(|(name, ..)| format!("'{name}'::regclass"));
    format!(
        "SELECT relname::text FROM pg_class WHERE oid = ANY (ARRAY[{}]::oid[]) AND relpersistence <> 'p'",
        names.join(", ")
    )
});

/// Fails if something was selected by [`UNLOGGED`].
pub(crate) fn check_logged(rows: &[Row]) -> Result<(), Fault> {
    let Some(row) = rows.first() else { return Ok(()) };
    Err(Fault::Unsuitable(unlogged(row.try_get(0)?)))
}

fn unlogged(name: &str) -> String {
    format!("a crash empties {name}, which is unlogged: SET LOGGED")
}
