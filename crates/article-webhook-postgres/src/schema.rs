mod table_check;

use crate::{
    connection::{
        Access, Database, PoolKind, SERVER, Statement, Transaction, Work, check_row, first,
    },
    fault::Fault,
};

/// Each step takes the schema to the next version. A released step is never changed.
///
/// Entries are narrow and change often, bodies are large and do not, so they never share a page. No index holds the end of
/// a lease, so that extending one changes no index. Texts are compared byte by byte: another version of the system's
/// library then breaks no index.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// How long a node waits while another one brings the tables up to this version.
const SET_MIGRATION_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '7s'";

/// Whether a standby follows that no commit waits for, and whether commits wait for one and none is there. A role without
/// the rights of `pg_monitor` sees that there is a standby, and not which.
const STANDBYS: &str = "SELECT names = '' AND EXISTS (SELECT FROM pg_stat_replication), \
    names <> '' AND NOT EXISTS (SELECT FROM pg_stat_replication \
        WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')) \
    FROM current_setting('synchronous_standby_names') names";

/// Whether every role may create functions and operators in the schema of the tables. Statements and functions of the inbox look
/// for names there, and would run one whose types fit better than those of PostgreSQL's own, with the rights of the inbox.
const IS_OPEN: &str = "SELECT has_schema_privilege('public', oid, 'CREATE') FROM pg_namespace \
    WHERE nspname = current_schema() AND nspname NOT LIKE 'pg\\_%'";

/// Whether the schema is there, whether the role may create tables in it or else the schema, and whether our table of
/// versions is there.
const RIGHTS: &str = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), \
    CASE WHEN EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) THEN has_schema_privilege($1, 'CREATE') AND has_schema_privilege($1, 'USAGE') \
    ELSE has_database_privilege(current_database(), 'CREATE') END, \
    EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = 'article_inbox_meta'), \
    (SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname LIKE 'article\\_inbox\\_%' ORDER BY c.relname LIMIT 1)";

/// Brings the tables of the inbox up to this version. Returns what an operator should know of the server.
pub(crate) async fn prepare(database: &Database) -> Result<Vec<String>, Fault> {
    database.retried(PoolKind::Working, Access::Write, &Prepare).await
}

struct Prepare;

impl Work for Prepare {
    type Output = Vec<String>;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Output, Fault> {
        tx.batch(SET_MIGRATION_LOCK_TIMEOUT).await?;
        migrate(tx, STEPS).await?;
        if let Some(defect) = table_check::find_unsuitable(tx).await? {
            return Err(Fault::Unsuitable(defect));
        }
        known_risks(tx).await
    }
}

/// What an operator should know of the server now.
pub(crate) struct ServerFindings;

impl Work for ServerFindings {
    type Output = Vec<String>;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Output, Fault> {
        wrong_settings(tx).await
    }
}

/// What is wrong with the settings of the server now. Each finding is a sentence.
pub(crate) async fn wrong_settings(tx: &mut Transaction<'_>) -> Result<Vec<String>, Fault> {
    let mut findings = known_risks(tx).await?;
    findings.extend(table_check::find_unsuitable(tx).await?);
    if let Err(fault) = check_row(first(&tx.query(Statement::new(SERVER)).await?)?) {
        findings.insert(0, fault.error().to_string());
    }
    Ok(findings)
}

/// What an operator should know, and what does not refuse a start.
async fn known_risks(tx: &mut Transaction<'_>) -> Result<Vec<String>, Fault> {
    let mut findings = standbys(tx).await?;
    let rows = tx.query(Statement::new(IS_OPEN)).await?;
    if rows.first().map_or(Ok(false), |row| row.try_get(0))? {
        findings.push(format!(
            "every role may create functions in the schema {}, and so run its own with the rights of the inbox: REVOKE CREATE \
             ON SCHEMA {} FROM PUBLIC, or name a schema of the inbox's own",
            tx.schema(),
            tx.schema()
        ));
    }
    Ok(findings)
}

/// What a failover may lose, or what is not acknowledged now.
async fn standbys(tx: &mut Transaction<'_>) -> Result<Vec<String>, Fault> {
    let rows = tx.query(Statement::new(STANDBYS)).await?;
    let found = first(&rows)?;
    let findings = [
        "a standby follows this server asynchronously: a failover to it may lose what was acknowledged; set \
         synchronous_standby_names",
        "no synchronous standby is connected, so that no delivery is acknowledged: bring one back, or change \
         synchronous_standby_names",
    ];
    let mut risks = Vec::new();
    for (column, finding) in findings.into_iter().enumerate() {
        if found.try_get(column)? {
            risks.push(finding.to_owned());
        }
    }
    Ok(risks)
}

/// Brings the tables up to this version. Nodes that start at once wait for each other.
async fn migrate(tx: &mut Transaction<'_>, steps: &[&str]) -> Result<(), Fault> {
    let lock = "SELECT pg_advisory_xact_lock(hashtext('article_inbox'), hashtext($1))";
    let schema = tx.schema_name().to_owned();
    tx.query(Statement::new(lock).with(schema.clone())).await?;
    let rows = tx.query(Statement::new(RIGHTS).with(schema.clone())).await?;
    let found = first(&rows)?;
    let (is_there, may_create, has_versions): (bool, bool, bool) =
        (found.try_get(0)?, found.try_get(1)?, found.try_get(2)?);
    let in_the_way: Option<String> = found.try_get(3)?;
    let version = match has_versions {
        true => version(tx).await?,
        false => 0,
    };
    if version > steps.len() {
        return Err(Fault::Unsuitable(format!(
            "the schema \"{schema}\" has version {version} of the inbox's tables, and this version knows those up to {}: \
             use a newer version of this program",
            steps.len()
        )));
    }
    if version == steps.len() {
        return Ok(());
    }
    if let (0, Some(name)) = (version, in_the_way) {
        return Err(Fault::Unsuitable(format!(
            "the schema \"{schema}\" has {name}, and article_inbox_meta has no version of the inbox's tables: if they are of an \
             inbox, restore article_inbox_meta from the same backup, because they may hold articles; if not, name another schema"
        )));
    }
    if !may_create {
        return Err(Fault::Unsuitable(format!(
            "the role may not create tables in the schema \"{schema}\": grant it CREATE there, or on the database if the \
             schema is to be created"
        )));
    }
    if !is_there {
        let create = format!("CREATE SCHEMA {}", tx.schema());
        tx.batch(&create).await?;
    }
    for step in &steps[version..] {
        tx.batch(step).await?;
    }
    let steps = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let note = "WITH written AS (UPDATE article_inbox_meta SET value = $1 WHERE name = 'schema' RETURNING 1)";
    tx.write(Statement::new(note).with(steps), 1);
    Ok(())
}

/// The version of the tables.
async fn version(tx: &mut Transaction<'_>) -> Result<usize, Fault> {
    let version = "SELECT value FROM article_inbox_meta WHERE name = 'schema'";
    let rows = tx.query(Statement::new(version)).await?;
    let version: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(usize::try_from(version).unwrap_or_default())
}
