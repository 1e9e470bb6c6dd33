use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use article_webhook_inbox::Error;
use tokio::time::timeout;
use tokio_postgres::{Row, types::Type};

use crate::{
    connection::{
        Access, Database, PoolKind, SERVER, Statement, Transaction, Work, check_row, first,
    },
    fault::{Fault, late},
    objects::{self, Defects},
    settings::{PostgresSettings, Purpose},
};

/// Each step takes the schema to the next version. A released step is never changed. It notes the oldest version whose nodes work on
/// its tables as `compatible_from` in `article_inbox_meta`, or removes that note: they keep columns, fields of documents and rows in
/// states that they do not know.
///
/// Entries are narrow and change often, bodies are large and do not, so they never share a page. No index holds the end of
/// a lease, so that extending one changes no index. Texts are compared byte by byte: another version of the system's
/// library then breaks no index.
const STEPS: &[&str] = &[include_str!("schema/1.sql")];

/// How long a start may take that changes no tables: it succeeds or fails within ten seconds, also by a machine that is busy.
const START_TIMEOUT: Duration = Duration::from_secs(9);

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

/// Whether the schema is there, whether the role may create tables in it or else the schema, and one of our tables, if any is there.
const RIGHTS: &str = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), \
    CASE WHEN EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) THEN has_schema_privilege($1, 'CREATE') AND has_schema_privilege($1, 'USAGE') \
    ELSE has_database_privilege(current_database(), 'CREATE') END, \
    (SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname LIKE 'article\\_inbox\\_%' ORDER BY c.relname LIMIT 1)";

/// Whether the schema has our table of versions, and the other schemas that have one.
const INBOXES: &str = "WITH inboxes AS (SELECT n.nspname::text AS name, \
        has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS may_read \
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'article_inbox_meta') \
    SELECT EXISTS (SELECT FROM inboxes WHERE name = $1), \
    array_to_string(ARRAY(SELECT name FROM inboxes WHERE name <> $1 AND may_read ORDER BY name LIMIT 5), ' and in ')";

/// The inboxes of a database.
#[doc(hidden)]
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "only the tool sees it")]
pub struct Inboxes {
    /// Whether the schema has one.
    pub is_here: bool,
    /// Other schemas with an inbox that the role may read, five at most: "a and in b". One whose schema was renamed is among them.
    pub elsewhere: String,
}

impl Inboxes {
    fn of(rows: &[Row]) -> Result<Self, Fault> {
        let row = first(rows)?;
        Ok(Self { is_here: row.try_get(0)?, elsewhere: row.try_get(1)? })
    }
}

impl PostgresSettings {
    /// Makes the tables of the inbox, or brings them up to this version, for as long as that takes. The role of these settings is
    /// their owner, and `role` gets every right that receivers and workers need: it needs no right to create.
    ///
    /// [`PostgresStore::connect`](crate::PostgresStore::connect) does the same with the one role that it has, if that may create
    /// tables.
    ///
    /// ```no_run
    /// use article_webhook_postgres::{PostgresSettings, PostgresStore};
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), article_webhook_inbox::Error> {
    ///     let settings = |url| PostgresSettings::new(url)?.schema("inbox");
    ///     let blog = settings("postgresql://blog:secret@db.example/blog")?;
    ///     let error = PostgresStore::connect(blog.clone()).await.unwrap_err();
    ///     assert!(error.to_string().starts_with("the role may not create tables in the schema \"inbox\""));
    ///
    ///     settings("postgresql://owner:secret@db.example/blog")?.migrate(Some("blog")).await?;
    ///     PostgresStore::connect(blog).await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`PostgresStore::connect`](crate::PostgresStore::connect). There is no such `role`. Another program holds a
    /// table for more than seven seconds.
    pub async fn migrate(&self, role: Option<&str>) -> Result<(), Error> {
        let database = Database::new(self.clone())?;
        let prepare = Prepare { role: role.map(str::to_owned), ..Prepare::default() };
        let prepared = database.retried(PoolKind::Working, Access::Migrate, &prepare).await;
        prepared.map(drop).map_err(|fault| fault.refusal())
    }

    /// The inboxes of the database.
    #[doc(hidden)]
    pub async fn inboxes(&self) -> Result<Inboxes, Error> {
        let client = self.client().await?;
        let rows = client.query_typed(INBOXES, &[(&self.schema, Type::TEXT)]).await;
        Ok(Inboxes::of(&rows.map_err(Fault::from)?)?)
    }

    /// The SQL that makes the tables where there are none, as [`migrate`](Self::migrate) does, for an operator who reads it first.
    ///
    /// ```
    /// use article_webhook_postgres::PostgresSettings;
    ///
    /// let settings = PostgresSettings::new("postgresql://owner@db.example/blog")?.schema("inbox")?;
    /// let sql = settings.migration_sql(Some("blog"));
    /// assert!(sql.starts_with("BEGIN;\nCREATE SCHEMA IF NOT EXISTS \"inbox\";\n"));
    /// assert!(sql.contains("GRANT USAGE ON SEQUENCE \"inbox\".article_inbox_ids TO \"blog\";\n"));
    /// assert!(!settings.migration_sql(None).contains("GRANT"));
    /// # Ok::<(), article_webhook_inbox::Error>(())
    /// ```
    #[must_use]
    pub fn migration_sql(&self, role: Option<&str>) -> String {
        let schema = &self.schema;
        // The schema `public` is there.
        let create = match schema.as_str() {
            "public" => String::new(),
            schema => format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\";\n"),
        };
        let (steps, version) = (STEPS.concat(), STEPS.len());
        let grants = role.map(|role| objects::grants(schema, role)).unwrap_or_default();
        let grants: String = grants.into_iter().map(|grant| format!("{grant};\n")).collect();
        format!(
            "BEGIN;\n{create}SET LOCAL search_path = \"{schema}\", pg_temp;\n{steps}\
             UPDATE article_inbox_meta SET value = {version} WHERE name = 'schema';\n{grants}COMMIT;\n"
        )
    }
}

/// What a start has found.
pub(crate) struct Prepared {
    /// The version of the tables.
    pub(crate) version: usize,
    pub(crate) findings: ServerFindings,
}

/// Brings the tables of the inbox up to this version, unless they are only read.
pub(crate) async fn prepare(database: &Database) -> Result<Prepared, Fault> {
    let prepare = Prepare::default();
    let access = match database.settings.purpose {
        Purpose::Work => Access::Migrate,
        Purpose::Read => Access::Read,
    };
    let mut prepared = pin!(database.retried(PoolKind::Working, access, &prepare));
    match timeout(START_TIMEOUT, &mut prepared).await {
        Ok(prepared) => prepared,
        Err(_) if prepare.changes.load(Ordering::SeqCst) => prepared.await,
        Err(_) => Err(late("PostgreSQL", START_TIMEOUT).into()),
    }
}

#[derive(Default)]
struct Prepare {
    /// Set once it changes tables, which may take long.
    changes: AtomicBool,
    /// The role that gets the rights.
    role: Option<String>,
}

impl Work for Prepare {
    type Output = Prepared;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Output, Fault> {
        let mut prepared = migrate(tx, STEPS, &self.changes).await?;
        if tx.is_read_only() {
            return Ok(prepared);
        }
        if let Some(role) = &self.role {
            let granted = tx.batch(&objects::grants(tx.schema_name(), role).join(";")).await;
            granted.map_err(|fault| match fault.is_undefined_object() {
                true => Fault::Unsuitable(format!(
                    "the role \"{role}\" does not exist: create it, or correct its name, which is that of --grant"
                )),
                false => fault,
            })?;
        }
        if let Some(defect) = defects(tx).await?.all().next() {
            return Err(Fault::Unsuitable(defect));
        }
        note_risks(tx, &mut prepared.findings).await?;
        Ok(prepared)
    }
}

/// What an operator should know of the server. Each finding is a sentence.
#[derive(Default)]
pub(crate) struct ServerFindings {
    /// Deliveries cannot be stored, or workers are hindered.
    pub(crate) faults: Vec<String>,
    /// Nothing is hindered now.
    pub(crate) warnings: Vec<String>,
}

/// Looks at the server, its settings and the tables as they are now.
pub(crate) struct CheckServer;

impl Work for CheckServer {
    type Output = ServerFindings;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Output, Fault> {
        let mut findings = ServerFindings::default();
        note_risks(tx, &mut findings).await?;
        findings.faults.extend(defects(tx).await?.all());
        match check_row(first(&tx.query(Statement::new(SERVER)).await?)?) {
            // What is only read may be on a standby.
            Err(Fault::ReadOnly) if tx.purpose() == Purpose::Read => {}
            Err(fault) => findings.faults.insert(0, fault.error().to_string()),
            Ok(()) => {}
        }
        Ok(findings)
    }
}

/// What is wrong with the tables and the rights of the role.
async fn defects(tx: &mut Transaction<'_>) -> Result<Defects, Fault> {
    let rows = tx.query(Statement::new(objects::check(tx.schema_name(), tx.purpose()))).await?;
    objects::defects(tx.schema_name(), &rows)
}

/// What an operator should know, and what does not refuse a start.
async fn note_risks(tx: &mut Transaction<'_>, findings: &mut ServerFindings) -> Result<(), Fault> {
    note_standbys(tx, findings).await?;
    let rows = tx.query(Statement::new(IS_OPEN)).await?;
    if rows.first().map_or(Ok(false), |row| row.try_get(0))? {
        findings.warnings.push(format!(
            "every role may create functions in the schema {}, and so run its own with the rights of the inbox: REVOKE CREATE \
             ON SCHEMA {} FROM PUBLIC, or name a schema of the inbox's own",
            tx.schema(),
            tx.schema()
        ));
    }
    Ok(())
}

/// What a failover may lose, or what is not acknowledged now.
async fn note_standbys(
    tx: &mut Transaction<'_>,
    findings: &mut ServerFindings,
) -> Result<(), Fault> {
    let rows = tx.query(Statement::new(STANDBYS)).await?;
    let found = first(&rows)?;
    let (follows_asynchronously, none_to_wait_for): (bool, bool) =
        (found.try_get(0)?, found.try_get(1)?);
    if follows_asynchronously {
        findings.warnings.push(
            "a standby follows this server asynchronously: a failover to it may lose what was acknowledged; set \
             synchronous_standby_names"
                .to_owned(),
        );
    }
    if none_to_wait_for {
        findings.faults.push(
            "no synchronous standby is connected, so that no delivery is acknowledged: bring one back, or change \
             synchronous_standby_names"
                .to_owned(),
        );
    }
    Ok(())
}

/// Brings the tables up to this version. Nodes that start at once wait for each other.
async fn migrate(
    tx: &mut Transaction<'_>,
    steps: &[&str],
    changes: &AtomicBool,
) -> Result<Prepared, Fault> {
    let schema = tx.schema_name().to_owned();
    if !tx.is_read_only() {
        let lock = "SELECT pg_advisory_xact_lock(hashtext('article_inbox'), hashtext($1))";
        tx.query(Statement::new(lock).with(schema.clone())).await?;
    }
    let asked = [RIGHTS, INBOXES].map(|sql| Statement::new(sql).with(schema.clone()));
    let [rights, inboxes] = tx.query_all(asked).await?;
    let (found, Inboxes { is_here, elsewhere }) = (first(&rights)?, Inboxes::of(&inboxes)?);
    let (is_there, may_create): (bool, bool) = (found.try_get(0)?, found.try_get(1)?);
    let in_the_way: Option<String> = found.try_get(2)?;
    if let (true, Some(rights)) = (is_here, defects(tx).await?.rights) {
        return Err(Fault::Unsuitable(rights));
    }
    let version = match is_here {
        true => version(tx).await?,
        false => 0,
    };
    if version > steps.len() && !is_compatible(tx, steps.len()).await? {
        return Err(Fault::Unsuitable(format!(
            "the schema \"{schema}\" has version {version} of the inbox's tables, and this version knows those up to {}: \
             use a newer version of this program",
            steps.len()
        )));
    }
    if version >= steps.len() {
        return Ok(Prepared { version, findings: ServerFindings::default() });
    }
    if let (0, Some(name)) = (version, in_the_way) {
        return Err(Fault::Unsuitable(format!(
            "the schema \"{schema}\" has {name}, and article_inbox_meta has no version of the inbox's tables: if they are of an \
             inbox, restore article_inbox_meta from the same backup, because they may hold articles; if not, name another schema"
        )));
    }
    let is_elsewhere = version == 0 && !elsewhere.is_empty();
    if !may_create || tx.is_read_only() {
        if is_elsewhere {
            return Err(Fault::Unsuitable(format!(
                "the schema \"{schema}\" has no inbox, and there is one in {elsewhere}: rename its schema back, or name that with \
                 PostgresSettings::schema, or with ?schema=NAME for the tool; `article-webhook inbox migrate` makes an empty inbox"
            )));
        }
        if tx.is_read_only() {
            let has = if version == 0 { "no inbox" } else { "tables of an older version" };
            return Err(Fault::Unsuitable(format!(
                "the schema \"{schema}\" has {has}, and this connection only reads: run `article-webhook inbox \
                 migrate` as the owner of the tables, or name the schema that has the inbox"
            )));
        }
        return Err(Fault::Unsuitable(format!(
            "the role may not create tables in the schema \"{schema}\": as their owner, run `article-webhook inbox \
             migrate` with `--grant` for this role; or grant it CREATE there, or on the database if the schema is to be created; or name the \
             schema that has them"
        )));
    }
    changes.store(true, Ordering::SeqCst);
    if !is_there {
        let create = format!("CREATE SCHEMA {}", tx.schema());
        tx.batch(&create).await?;
    }
    for step in &steps[version..] {
        tx.batch(step).await?;
    }
    let version = steps.len();
    let steps = i64::try_from(version).unwrap_or(i64::MAX);
    let note = "WITH written AS (UPDATE article_inbox_meta SET value = $1 WHERE name = 'schema' RETURNING 1)";
    tx.write(Statement::new(note).with(steps), 1);
    let is_new = format!(
        "the inbox in the schema \"{schema}\" is new and empty, and there is one in {elsewhere}: if that is the one that is meant, \
         name it with PostgresSettings::schema, or with ?schema=NAME for the tool"
    );
    let warnings = Vec::from_iter(is_elsewhere.then_some(is_new));
    Ok(Prepared { version, findings: ServerFindings { faults: Vec::new(), warnings } })
}

/// The version of the tables.
async fn version(tx: &mut Transaction<'_>) -> Result<usize, Fault> {
    Ok(meta(tx, "schema").await?.unwrap_or_default())
}

/// Whether a program with tables of this version works on newer tables. The step that makes those notes the oldest version that
/// does, as `compatible_from`.
async fn is_compatible(tx: &mut Transaction<'_>, version: usize) -> Result<bool, Fault> {
    Ok(meta(tx, "compatible_from").await?.is_some_and(|oldest| oldest <= version))
}

async fn meta(tx: &mut Transaction<'_>, name: &str) -> Result<Option<usize>, Fault> {
    let select = "SELECT value FROM article_inbox_meta WHERE name = $1";
    let rows = tx.query(Statement::new(select).with(name.to_owned())).await?;
    let value: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(value.map(|value| usize::try_from(value).unwrap_or_default()))
}
