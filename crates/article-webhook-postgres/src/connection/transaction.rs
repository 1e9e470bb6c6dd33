use std::{
    mem,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::SystemTime,
};

use article_webhook_inbox::store::{from_millis, to_millis};
use tokio_postgres::{
    Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{
    commit::{PATIENCE, check_notices, of_commit, unanswered},
    database::Database,
    pool::Lent,
    row::first,
};
use crate::fault::Fault;

/// How long a statement waits for a row that another program holds, for one call and for several, and how long it may run.
const LOCK_MILLIS: u32 = 2000;
const SHARED_LOCK_MILLIS: u32 = 500;
pub(super) const STATEMENT_MILLIS: u32 = 8000;

/// How long the server keeps a transaction that sends nothing, and the rows that it holds: a node that has vanished says
/// no farewell. An administrator's time is for other programs.
pub(crate) const IDLE_MILLIS: u32 = 10_000;

/// The future of a transaction's statements.
pub(crate) type Work<'t, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 't>>;

/// A parameter of a statement with its type: a statement with types needs no name on the server, so that a pooler may
/// change the connection between transactions.
pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// How long the statements of a transaction may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// As long as a call may.
    Call,
    /// The same, for several calls. If another program holds a row of one of them, the others are not kept waiting.
    Shared,
    /// As long as they need: they read everything.
    Unlimited,
}

/// A transaction. It begins with its first statement.
pub(crate) struct Transaction<'a> {
    lent: &'a Lent,
    database: &'a Database,
    length: Length,
    ending: Mutex<Ending>,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has not begun, and may have nothing to do.
    NotBegun,
    /// By a COMMIT, which was not sent yet.
    Due,
    /// By its one statement, which was sent, and whose answer is not waited for any longer.
    Unanswered,
    /// Nothing is left to send.
    Ended,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(lent: &'a Lent, database: &'a Database, length: Length) -> Self {
        Self { lent, database, length, ending: Mutex::new(Ending::NotBegun) }
    }

    pub(super) fn ending(&self) -> Ending {
        *self.lock_ending()
    }

    fn lock_ending(&self) -> MutexGuard<'_, Ending> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn begin(&self) -> Result<(), Fault> {
        if mem::replace(&mut *self.lock_ending(), Ending::Due) != Ending::NotBegun {
            return Ok(());
        }
        let lock = self.lock_millis();
        let statement = match self.length {
            Length::Call | Length::Shared => STATEMENT_MILLIS,
            Length::Unlimited => 0,
        };
        let begin = format!(
            "{}{lock}', true), set_config('statement_timeout', '{statement}', true)",
            self.database.begin
        );
        self.lent.session().client.batch_execute(&begin).await.map_err(refused)
    }

    /// The rows of a statement that is the whole transaction: it sets for itself what BEGIN sets for others, and commits by
    /// itself. It takes one round trip where others take two or more. The server gives its commit no time-out either.
    pub(crate) async fn whole(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Fault> {
        *self.lock_ending() = Ending::Unanswered;
        let session = self.lent.session();
        let before = session.notices.load(Ordering::SeqCst);
        let answered = session.client.query_typed(statement, parameters);
        let answered = tokio::time::timeout(PATIENCE, answered).await.map_err(|_| unanswered())?;
        *self.lock_ending() = Ending::Ended;
        let rows = answered.map_err(of_commit)?;
        check_notices(session, before)?;
        Ok(rows)
    }

    /// The rows of a statement that is the whole transaction, and whose commit the server answers before it is on disk: it sets
    /// for itself what BEGIN sets for others. It is sent together with what begins and commits it, and so takes one round trip.
    /// If its answer is lost, it has mostly been committed.
    pub(crate) async fn at_once(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Fault> {
        *self.lock_ending() = Ending::Ended;
        let client = &self.lent.session().client;
        let (begun, rows, committed) = tokio::join!(
            biased;
            client.batch_execute(&self.database.begin_at_once),
            client.query_typed(statement, parameters),
            client.batch_execute("COMMIT"),
        );
        match (begun, rows) {
            (Ok(()), rows) => {
                let rows = rows?;
                committed.map_err(of_commit)?;
                Ok(rows)
            }
            // Only BEGIN was cancelled, so that the statement has committed by itself.
            (Err(_), Ok(rows)) => Ok(rows),
            (Err(begun), Err(_)) => Err(refused(begun)),
        }
    }

    /// Whether it is of several calls, so that what waits for a row is left to a transaction of its own.
    pub(crate) fn is_shared(&self) -> bool {
        self.length == Length::Shared
    }

    /// How long statements wait for a row that another program holds, in milliseconds.
    pub(crate) fn lock_millis(&self) -> u32 {
        match self.length {
            Length::Call | Length::Unlimited => LOCK_MILLIS,
            Length::Shared => SHARED_LOCK_MILLIS,
        }
    }

    /// The rows that the first statement of a transaction returns. It is sent together with BEGIN, and so are other
    /// statements that are sent with it: should BEGIN fail, they run outside the transaction. So they only read, or name the
    /// schema and do no harm by themselves.
    pub(crate) async fn begin_with(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Fault> {
        let client = &self.lent.session().client;
        let (begun, rows) =
            tokio::join!(biased; self.begin(), client.query_typed(statement, parameters));
        begun?;
        Ok(rows?)
    }

    /// The rows that a statement returns.
    pub(crate) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Fault> {
        self.begin().await?;
        Ok(self.lent.session().client.query_typed(statement, parameters).await?)
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(crate) async fn execute(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<u64, Fault> {
        self.begin().await?;
        Ok(self.lent.session().client.execute_typed(statement, parameters).await?)
    }

    /// Runs a statement that writes one row, and fails if it has not.
    pub(crate) async fn write_row(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<(), Fault> {
        let written = self.execute(statement, parameters).await?;
        if written == 1 { Ok(()) } else { Err(Fault::not_written()) }
    }

    /// Runs statements without parameters.
    pub(crate) async fn batch(&self, statements: &str) -> Result<(), Fault> {
        self.begin().await?;
        Ok(self.lent.session().client.batch_execute(statements).await?)
    }

    /// Runs statements under a savepoint. `None`: the server could not read what it has stored, and what they changed is
    /// undone.
    pub(crate) async fn unless_damaged<T>(
        &self,
        statements: impl Future<Output = Result<T, Fault>> + Send,
    ) -> Result<Option<T>, Fault> {
        self.batch("SAVEPOINT readable").await?;
        match statements.await {
            Ok(done) => {
                self.batch("RELEASE readable").await?;
                Ok(Some(done))
            }
            Err(fault) if fault.is_damage() => {
                self.batch("ROLLBACK TO readable; RELEASE readable").await?;
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
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

    /// The time now, after whatever the transaction has waited for.
    pub(crate) async fn now(&self) -> Result<SystemTime, Fault> {
        let now = match self.given_time() {
            Some(millis) => millis,
            None => {
                let now = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
                let rows = self.query(now, &[]).await?;
                first(&rows)?.try_get(0)?
            }
        };
        Ok(from_millis(now))
    }
}

/// The fault of what begins a transaction.
fn refused(error: tokio_postgres::Error) -> Fault {
    // What PgBouncer answers to BEGIN where each statement may run on another connection. It uses this code for much else,
    // which passes.
    let refused = error.as_db_error().filter(|answer| {
        *answer.code() == SqlState::PROTOCOL_VIOLATION
            && answer.message().contains("statement pooling")
    });
    if refused.is_some() {
        return Fault::Unfit(
            "a pooler before PostgreSQL refuses transactions: set pool_mode to transaction or session".to_owned(),
        );
    }
    match error.code() {
        // What a standby answers to READ WRITE.
        Some(&SqlState::FEATURE_NOT_SUPPORTED) => Fault::ReadOnly,
        _ => Fault::Driver(error),
    }
}
