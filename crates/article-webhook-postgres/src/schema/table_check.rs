//! Whether the tables keep what is written to them. A trigger or a rule may skip a row in silence, a policy may hide it, and a crash
//! empties a table without a log.

use crate::{
    connection::{Statement, Transaction},
    fault::Fault,
};

/// The tables, and what the inbox does with their rows.
const TABLES: [(&str, &str); 6] = [
    ("article_inbox_bodies", "SELECT,INSERT,UPDATE,DELETE"),
    ("article_inbox_bucket", "SELECT,UPDATE"),
    ("article_inbox_entries", "SELECT,INSERT,UPDATE,DELETE"),
    ("article_inbox_intents", "SELECT,INSERT,UPDATE,DELETE"),
    ("article_inbox_jobs", "SELECT,INSERT,UPDATE,DELETE"),
    ("article_inbox_meta", "SELECT,UPDATE"),
];

/// Of each table that is not as it should be, what is the matter. Triggers that run before each row may skip or change it.
const TABLE_DEFECTS: &str = "SELECT name, c.oid IS NOT NULL AND c.relkind = 'r', c.relpersistence = 'p', \
        row_security_active(c.oid), EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid), \
        (SELECT tgname::text FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal AND tgenabled <> 'D' \
            AND tgtype & 3 = 3 ORDER BY tgname LIMIT 1), \
        (SELECT right_to FROM unnest(string_to_array(rights, ',')) AS right_to \
            WHERE NOT has_table_privilege(c.oid, right_to) LIMIT 1) \
    FROM unnest($2::text[], $3::text[]) AS t (name, rights) LEFT JOIN \
        (pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1) ON c.relname = name ORDER BY name";

/// What is wrong with the first of the tables that could lose what is acknowledged, or that the role cannot use.
pub(super) async fn find_unsuitable(tx: &mut Transaction<'_>) -> Result<Option<String>, Fault> {
    let schema = tx.schema_name().to_owned();
    let (names, rights): (Vec<_>, Vec<_>) = TABLES.into_iter().unzip();
    let defect = Statement::new(TABLE_DEFECTS).with(schema.clone()).with(names).with(rights);
    for row in tx.query(defect).await? {
        let table: &str = row.try_get(0)?;
        if !row.try_get::<_, bool>(1)? {
            return Ok(Some(format!("the schema \"{schema}\" has no table {table}: restore it")));
        }
        let (is_logged, is_hidden, has_rule): (bool, bool, bool) =
            (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        let (trigger, missing): (Option<&str>, Option<&str>) = (row.try_get(5)?, row.try_get(6)?);
        return Ok(Some(match (trigger, missing) {
            _ if !is_logged => format!("a crash empties {table}, which is unlogged: SET LOGGED"),
            _ if is_hidden => format!(
                "row level security may hide rows of {table}: disable it, or give the role BYPASSRLS"
            ),
            _ if has_rule => format!("a rule changes what is written to {table}: drop it"),
            (Some(trigger), _) => format!(
                "the trigger {trigger} may skip or change rows of {table}: drop it, or run it AFTER"
            ),
            (_, Some(right)) => format!("the role has no right to {right} on {table}: grant it"),
            (None, None) => continue,
        }));
    }
    Ok(None)
}
