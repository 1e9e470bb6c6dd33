use std::time::SystemTime;

use article_inbox::Error;
use tokio_postgres::types::Type;

use crate::{
    connection::{Database, Lane, Length, Transaction, Work, first},
    fault::Fault,
};

/// Each step takes the schema to the next version. A released step is never changed.
///
/// Entries are narrow and change often, bodies are large and do not, so they never share a page. No index holds the end of
/// a lease, so that extending one changes no index. Texts are compared byte by byte: another version of the system's
/// library then breaks no index.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// The oldest version that is supported, as the server counts.
const OLDEST: i32 = 130_000;

/// What a server must be, and what it has, in one statement.
const SERVER: &str = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
    current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on', \
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', \
    current_setting('synchronous_standby_names') = '' AND EXISTS (SELECT FROM pg_stat_replication)";

/// Whether the schema is there, whether the role may create tables in it or else the schema, and whether our table of
/// versions is there.
const RIGHTS: &str = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), \
    CASE WHEN EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) THEN has_schema_privilege($1, 'CREATE') AND has_schema_privilege($1, 'USAGE') \
    ELSE has_database_privilege(current_database(), 'CREATE') END, \
    EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = 'article_inbox_meta'), \
    (SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname LIKE 'article\\_inbox\\_%' ORDER BY c.relname LIMIT 1)";

/// Judges the server, and brings the tables of the inbox up to this version. Returns what an operator should know, and the
/// time.
pub(crate) async fn prepare(database: &Database) -> Result<(Vec<String>, SystemTime), Fault> {
    database.retried(Lane::Working, Length::Call, database.settings.schema.as_str(), start).await
}

fn start<'t>(tx: &'t Transaction<'t>, schema: &'t str) -> Work<'t, (Vec<String>, SystemTime)> {
    Box::pin(async move {
        let notes = judge(tx).await?;
        migrate(tx, schema, STEPS).await?;
        Ok((notes, tx.now().await?))
    })
}

/// Refuses a server on which an acknowledged delivery could be lost.
async fn judge(tx: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    let rows = tx.query(SERVER, &[]).await?;
    let server = first(&rows)?;
    let (number, version): (i32, String) = (server.try_get(0)?, server.try_get(1)?);
    if number < OLDEST {
        return Err(Error::unusable(format!(
            "this is PostgreSQL {version}, and the inbox needs 13 or newer: upgrade it"
        ))
        .into());
    }
    for (column, setting) in [(2, "fsync"), (3, "full_page_writes")] {
        let is_on: bool = server.try_get(column)?;
        if !is_on {
            return Err(Error::unusable(format!(
                "{setting} is off in PostgreSQL, so that a power cut loses what was acknowledged: turn it on"
            ))
            .into());
        }
    }
    if server.try_get::<_, bool>(4)? {
        return Err(Error::unusable(
            "PostgreSQL allows no writing, because it is a standby or default_transaction_read_only is on: connect to \
             the primary server",
        )
        .into());
    }
    let mut notes = Vec::new();
    if server.try_get::<_, bool>(5)? {
        notes.push(
            "a standby follows this server asynchronously: a failover to it may lose what was acknowledged; set \
             synchronous_standby_names"
                .to_owned(),
        );
    }
    Ok(notes)
}

/// Brings the tables up to this version. Nodes that start at once wait for each other.
async fn migrate(tx: &Transaction<'_>, schema: &str, steps: &[&str]) -> Result<(), Fault> {
    let lock = "SELECT pg_advisory_xact_lock(hashtext('article_inbox'), hashtext($1))";
    tx.query(lock, &[(&schema, Type::TEXT)]).await?;
    let rows = tx.query(RIGHTS, &[(&schema, Type::TEXT)]).await?;
    let found = first(&rows)?;
    let (is_there, may_create, has_versions): (bool, bool, bool) =
        (found.try_get(0)?, found.try_get(1)?, found.try_get(2)?);
    let in_the_way: Option<String> = found.try_get(3)?;
    let version = match has_versions {
        true => version(tx).await?,
        false => 0,
    };
    if version > steps.len() {
        return Err(Error::unusable(format!(
            "the schema {schema} has version {version} of the inbox's tables, and this version knows those up to {}: use \
             a newer version of this program",
            steps.len()
        ))
        .into());
    }
    if version == steps.len() {
        return Ok(());
    }
    if let (0, Some(name)) = (version, in_the_way) {
        return Err(Error::unusable(format!(
            "the schema {schema} has {name}, which is not of this inbox: remove it, or name another schema"
        ))
        .into());
    }
    if !may_create {
        return Err(Error::unusable(format!(
            "the role may not create tables in the schema {schema}: grant it CREATE there, or on the database if the \
             schema is to be created"
        ))
        .into());
    }
    if !is_there {
        // A plain name, as the settings check.
        tx.batch(&format!("CREATE SCHEMA {schema}")).await?;
    }
    for step in &steps[version..] {
        tx.batch(step).await?;
    }
    let steps = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let note = "UPDATE article_inbox_meta SET value = $1 WHERE name = 'schema'";
    tx.execute(note, &[(&steps, Type::INT8)]).await?;
    Ok(())
}

/// The version of the tables.
async fn version(tx: &Transaction<'_>) -> Result<usize, Fault> {
    let version = "SELECT value FROM article_inbox_meta WHERE name = 'schema'";
    let rows = tx.query(version, &[]).await?;
    let version: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(usize::try_from(version).unwrap_or_default())
}

/// What is wrong with the settings of the server now. Each finding is a sentence.
pub(crate) async fn wrong_settings(tx: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    match judge(tx).await {
        Ok(notes) => Ok(notes),
        Err(Fault::Ours(error)) => Ok(vec![error.to_string()]),
        Err(fault) => Err(fault),
    }
}
