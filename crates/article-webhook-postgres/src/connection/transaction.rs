use std::{
    mem,
    time::{Instant, SystemTime},
};

use article_webhook_inbox::store::{from_millis, to_millis};
use bytes::{Bytes, BytesMut};
use futures_util::future::try_join_all;
use tokio_postgres::{
    Row, SimpleQueryMessage,
    error::SqlState,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

use super::{connect::Session, database::Database};
use crate::{fault::Fault, objects, settings::Purpose};

/// How long a statement waits for a row that another program holds, for one call, for several, for one delivery, and where tables are
/// changed; and how long it may run.
const LOCK_TIMEOUT_MILLIS: u32 = 2000;
const SHARED_LOCK_TIMEOUT_MILLIS: u32 = 100;
const DELIVERY_LOCK_TIMEOUT_MILLIS: u32 = 800;
const MIGRATION_LOCK_TIMEOUT_MILLIS: u32 = 7000;
const STATEMENT_TIMEOUT_MILLIS: u32 = 8000;

/// How long the server keeps a transaction that sends nothing, and the rows that it holds: a node that has vanished does
/// not close its connection. An administrator's time is for other programs.
const IDLE_TIMEOUT_MILLIS: u32 = 10_000;

/// What a transaction may do, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It changes rows.
    Write,
    /// The same, for several calls. If another program holds a row of one of them, the others are not kept waiting.
    Shared,
    /// The same, for one delivery. Its sender waits, and sends it again.
    Delivery,
    /// It hands out leases. The commit is not waited for: should the server lose it, its entries are claimed again, under other
    /// fences, because a fence is no smaller than the time. What a handler then commits is written after the claim, and so
    /// never without it.
    Lease,
    /// It sees everything as of one moment.
    Read,
    /// The same, for as long as it needs: it reads everything.
    ReadAll,
    /// It changes tables, for as long as that needs. It does not wait for long while another does.
    Migrate,
}

impl Access {
    /// Whether it changes nothing.
    pub(super) fn is_read_only(self) -> bool {
        matches!(self, Self::Read | Self::ReadAll)
    }

    /// What begins the transaction. Everything is set for it alone: a pooler may give the session to others. A name in `pg_temp`
    /// never hides a table. A warning of a trigger is not received. Without statistics the server would read
    /// whole tables or whole indexes: rows are looked for by indexes, one after the other.
    pub(super) fn begin(self, schema: &str) -> String {
        let mode = match self {
            Self::Write | Self::Shared | Self::Delivery | Self::Lease | Self::Migrate => {
                "READ COMMITTED READ WRITE"
            }
            Self::Read | Self::ReadAll => "REPEATABLE READ READ ONLY",
        };
        let (lock, statement) = match self {
            Self::Shared => (SHARED_LOCK_TIMEOUT_MILLIS, STATEMENT_TIMEOUT_MILLIS),
            Self::Delivery => (DELIVERY_LOCK_TIMEOUT_MILLIS, STATEMENT_TIMEOUT_MILLIS),
            Self::Write | Self::Lease | Self::Read => {
                (LOCK_TIMEOUT_MILLIS, STATEMENT_TIMEOUT_MILLIS)
            }
            Self::ReadAll => (LOCK_TIMEOUT_MILLIS, 0),
            Self::Migrate => (MIGRATION_LOCK_TIMEOUT_MILLIS, 0),
        };
        let commit = match self {
            Self::Lease => "'off'",
            _ => {
                "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END"
            }
        };
        let tables = match self {
            Self::Write | Self::Shared | Self::Delivery | Self::Lease => {
                format!("{}; ", objects::lock(schema))
            }
            Self::Read | Self::ReadAll | Self::Migrate => String::new(),
        };
        format!(
            "BEGIN ISOLATION LEVEL {mode}; SET LOCAL search_path = {schema}, pg_temp; SET LOCAL lock_timeout = {lock}; \
             SET LOCAL statement_timeout = {statement}; SET LOCAL idle_in_transaction_session_timeout = {IDLE_TIMEOUT_MILLIS}; \
             SET LOCAL client_min_messages = error; SET LOCAL row_security = off; SET LOCAL jit = off; \
             SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; \
             SET LOCAL enable_mergejoin = off; SET LOCAL enable_sort = off; {tables}\
             SELECT floor(extract(epoch FROM now()) * 1000)::bigint, set_config('synchronous_commit', {commit}, true)"
        )
    }
}

/// A statement with its parameters. Each has a type: a statement with types needs no name on the server, so that a pooler may
/// change the connection between transactions.
pub(crate) struct Statement {
    sql: String,
    parameters: Vec<(Box<dyn ToSql + Send + Sync>, Type)>,
}

/// A value that is a parameter.
pub(crate) trait Parameter: ToSql + Send + Sync + 'static {
    const TYPE: Type;
}

macro_rules! parameters {
    ($($value:ty: $type:ident),* $(,)?) => {
        $(impl Parameter for $value { const TYPE: Type = Type::$type; })*
    };
}

parameters! {
    bool: BOOL, i64: INT8, Option<i64>: INT8, String: TEXT, Option<String>: TEXT, &'static str: TEXT,
    Vec<bool>: BOOL_ARRAY, Vec<i16>: INT2_ARRAY, Vec<i64>: INT8_ARRAY, Vec<Option<i64>>: INT8_ARRAY,
    Vec<String>: TEXT_ARRAY, Vec<Option<String>>: TEXT_ARRAY, Vec<&'static str>: TEXT_ARRAY, Vec<Blob>: BYTEA_ARRAY,
    Vec<Option<Blob>>: BYTEA_ARRAY,
}

/// Bytes as a parameter. They are copied only into the message to the server.
#[derive(Debug)]
pub(crate) struct Blob(pub(crate) Bytes);

impl ToSql for Blob {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        (&*self.0).to_sql(ty, out)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::BYTEA
    }

    to_sql_checked!();
}

impl Statement {
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameters: Vec::new() }
    }

    /// Adds a parameter.
    pub(crate) fn with<P: Parameter>(mut self, parameter: P) -> Self {
        self.parameters.push((Box::new(parameter), P::TYPE));
        self
    }

    /// Adds to the text.
    pub(crate) fn and(mut self, sql: &str) -> Self {
        self.sql.push_str(sql);
        self
    }

    async fn rows(self, session: &Session) -> Result<Vec<Row>, Fault> {
        Ok(session.client.query_typed(&self.sql, &self.borrowed()).await?)
    }

    /// Runs a statement whose `written` are the rows that it has written, and fails on the server unless they are this many:
    /// a COMMIT that is sent together with it then commits nothing.
    async fn write(mut self, session: &Session, rows: usize) -> Result<(), Fault> {
        self.sql.push_str(&format!(" SELECT 1 / (count(*) = {rows})::int FROM written"));
        let written = session.client.execute_typed(&self.sql, &self.borrowed()).await;
        match written {
            Err(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => {
                Err(Fault::NotWritten)
            }
            written => Ok(written.map(drop)?),
        }
    }

    fn borrowed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.parameters
            .iter()
            .map(|(value, ty)| (&**value as &(dyn ToSql + Sync), ty.clone()))
            .collect()
    }
}

/// Statements that write, and how many rows each writes.
#[derive(Default)]
pub(super) struct Writes(Vec<(Statement, usize)>);

impl Writes {
    pub(super) async fn send(self, session: &Session) -> Result<(), Fault> {
        let writes = self.0.into_iter().map(|(statement, rows)| statement.write(session, rows));
        try_join_all(writes).await.map(drop)
    }
}

/// What a call does in its transaction. It may run more than once.
pub(crate) trait Work: Send + Sync + 'static {
    type Output: Send + 'static;

    fn run(
        &self,
        tx: &mut Transaction<'_>,
    ) -> impl Future<Output = Result<Self::Output, Fault>> + Send;
}

/// A transaction. It begins with its first statement, and with what is sent together with that.
pub(crate) struct Transaction<'a> {
    session: &'a Session,
    database: &'a Database,
    access: Access,
    now: Option<SystemTime>,
    /// What is written with the next statement, or with the commit.
    writes: Writes,
    has_written: bool,
    damage: Vec<(&'static str, String)>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(session: &'a Session, database: &'a Database, access: Access) -> Self {
        let (writes, damage) = (Writes::default(), Vec::new());
        Self { session, database, access, now: None, writes, has_written: false, damage }
    }

    /// Whether it only reads.
    pub(crate) fn is_read_only(&self) -> bool {
        self.access.is_read_only()
    }

    /// Whether anything was written.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written
    }

    /// The time at which the transaction began.
    pub(crate) fn now(&self) -> SystemTime {
        self.now.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The name of this node.
    pub(crate) fn node(&self) -> &str {
        &self.database.settings.node
    }

    /// What the inbox is opened for.
    pub(crate) fn purpose(&self) -> Purpose {
        self.database.settings.purpose
    }

    /// The schema of the tables, as statements name it.
    pub(crate) fn schema(&self) -> &str {
        self.database.schema()
    }

    /// The name of the schema.
    pub(crate) fn schema_name(&self) -> &str {
        &self.database.settings.schema
    }

    /// The time of a test's clock, in milliseconds. `None`: statements take the database's.
    pub(crate) fn given_time(&self) -> Option<i64> {
        self.database.settings.clock.as_ref().map(|clock| to_millis(clock.now()))
    }

    /// Notes that something that was loaded is damaged. `part` is a label of the metric.
    pub(crate) fn add_damage(&mut self, part: &'static str, finding: String) {
        if !self.damage.iter().any(|(_, known)| *known == finding) {
            self.damage.push((part, finding));
        }
    }

    /// The damage that was found, which is then not reported at the end.
    pub(crate) fn take_damage(&mut self) -> Vec<String> {
        mem::take(&mut self.damage).into_iter().map(|(_, finding)| finding).collect()
    }

    /// Reports the damage that was found.
    pub(super) fn report_damage(&mut self) {
        let found = mem::take(&mut self.damage);
        found.into_iter().for_each(|(part, finding)| self.database.damage.add(part, finding));
    }

    /// Sends a statement that writes this many rows, and names them `written`, with the next one whose rows are waited for, or with
    /// the commit.
    pub(crate) fn write(&mut self, statement: Statement, rows: usize) {
        self.has_written = true;
        self.writes.0.push((statement, rows));
    }

    /// The rows that a statement returns.
    pub(crate) async fn query(&mut self, statement: Statement) -> Result<Vec<Row>, Fault> {
        let rows = self.query_all([statement]).await?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// The rows that statements return, which are sent together, also with BEGIN if it is due. Should BEGIN fail, they run
    /// outside the transaction, so that the first ones only read.
    pub(crate) async fn query_all<const N: usize>(
        &mut self,
        statements: [Statement; N],
    ) -> Result<[Vec<Row>; N], Fault> {
        let (session, begin) = (self.session, &self.database.begin[self.access as usize]);
        let (begins, began) = (self.now.is_none(), Instant::now());
        // Each is waited for: of a connection that ends, the first answer has the cause.
        let (begun, written, rows) = tokio::join!(
            biased;
            async {
                if begins { begin_with(session, begin).await.map(Some) } else { Ok(None) }
            },
            mem::take(&mut self.writes).send(session),
            try_join_all(statements.into_iter().map(|statement| statement.rows(session))),
        );
        let (begun, rows) = (begun?, written.and(rows)?);
        if let Some(now) = begun {
            // What it says is due is due by this clock, which may be that of another server than before.
            self.database.set_time(from_millis(now), began);
            self.now = Some(from_millis(self.given_time().unwrap_or(now)));
        }
        rows.try_into().map_err(|_| Fault::Vanished)
    }

    /// Runs statements without parameters, after what is to be written.
    pub(crate) async fn batch(&mut self, statements: &str) -> Result<(), Fault> {
        self.query_all([]).await?;
        self.has_written = true;
        Ok(self.session.client.batch_execute(statements).await?)
    }

    /// What is to be written with the commit. `None`: the transaction has not begun.
    pub(super) fn end(self) -> Option<Writes> {
        self.now.map(|_| self.writes)
    }
}

/// The one row of a statement that always returns one.
pub(crate) fn first(rows: &[Row]) -> Result<&Row, Fault> {
    rows.first().ok_or(Fault::Vanished)
}

/// Begins a transaction. Returns the server's time in milliseconds.
async fn begin_with(session: &Session, begin: &str) -> Result<i64, Fault> {
    let messages = session.client.simple_query(begin).await.map_err(refused)?;
    let now = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    });
    now.ok_or(Fault::Vanished)
}

/// The fault of what begins a transaction.
fn refused(error: tokio_postgres::Error) -> Fault {
    match error.code() {
        // What a standby answers to READ WRITE.
        Some(&SqlState::FEATURE_NOT_SUPPORTED) => Fault::ReadOnly,
        _ => Fault::Driver(error),
    }
}
