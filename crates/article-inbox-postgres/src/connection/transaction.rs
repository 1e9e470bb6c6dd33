use std::{
    borrow::Borrow,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, SystemTime},
};

use article_inbox::{
    Error,
    store::{from_millis, to_millis},
};
use tokio_postgres::{
    Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::pool::{Connections, Lane, Lent};
use crate::{
    fault::{Fault, late},
    settings::PostgresSettings,
};

/// How often a transaction is tried that conflicts with others.
const ATTEMPTS: u32 = 3;

/// How long the statements of a call may take together. It is longer than the patience of a caller, and ends a
/// transaction on a server that does not answer.
const CALL: Duration = Duration::from_secs(10);

/// How long a statement waits for a row that another program holds, and how long it may run.
const LOCK_MILLIS: u32 = 2000;
const STATEMENT_MILLIS: u32 = 8000;

/// The future of a transaction's statements.
pub(crate) type Work<'t, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 't>>;

/// A parameter of a statement with its type: a statement with types needs no name on the server, so that a pooler may
/// change the connection between transactions.
pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// Where transactions run: the connections, the schema and the clock.
pub(crate) struct Database {
    pub(crate) connections: Connections,
    pub(crate) settings: PostgresSettings,
    begin: String,
}

/// How long the statements of a transaction may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// As long as a call may.
    Call,
    /// As long as they need: they read everything.
    Unlimited,
}

/// A transaction in progress.
pub(crate) struct Transaction<'a> {
    lent: &'a Lent,
    database: &'a Database,
}

impl Database {
    pub(crate) fn new(settings: PostgresSettings) -> Result<Self, Error> {
        let connections = Connections::new(&settings)?;
        // Everything is set for the transaction alone: a pooler may give the session to others. A name in `pg_temp` never
        // hides a table. Notices are told from warnings by what is sent at all.
        let schema = &settings.schema;
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
             SELECT set_config('search_path', '{schema}, pg_temp', true), \
             set_config('lock_timeout', '{LOCK_MILLIS}', true), \
             set_config('client_min_messages', 'warning', true), \
             CASE WHEN current_setting('synchronous_commit') <> 'remote_apply' \
             THEN set_config('synchronous_commit', 'on', true) END, \
             set_config('statement_timeout', "
        );
        Ok(Self { connections, settings, begin })
    }

    /// Runs a transaction in a task that no caller cancels, and commits it.
    pub(crate) async fn transact<A, B, T>(
        self: &Arc<Self>,
        lane: Lane,
        arguments: A,
        work: for<'t> fn(&'t Transaction<'t>, &'t B) -> Work<'t, T>,
    ) -> Result<T, Error>
    where
        A: Borrow<B> + Send + Sync + 'static,
        B: Sync + ?Sized + 'static,
        T: Send + 'static,
    {
        let database = Arc::clone(self);
        let transaction = async move {
            Ok(database.retried(lane, Length::Call, arguments.borrow(), work).await?)
        };
        self.spawn(transaction).await
    }

    /// Runs something in a task that no caller cancels, and that closing waits for.
    pub(crate) async fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let call = self.connections.call().await?;
        let task = self.connections.runtime.spawn(async move {
            let done = task.await;
            drop(call);
            done
        });
        task.await.map_err(|_| Error::unavailable("the runtime of the store has ended"))?
    }

    /// Runs a transaction, and again if it conflicts with others.
    pub(crate) async fn retried<A: Sync + ?Sized, T>(
        &self,
        lane: Lane,
        length: Length,
        arguments: &A,
        work: for<'t> fn(&'t Transaction<'t>, &'t A) -> Work<'t, T>,
    ) -> Result<T, Fault> {
        for _ in 1..ATTEMPTS {
            match self.once(lane, length, arguments, work).await {
                Err(fault) if fault.may_be_retried() => {}
                outcome => return outcome,
            }
        }
        self.once(lane, length, arguments, work).await
    }

    async fn once<A: Sync + ?Sized, T>(
        &self,
        lane: Lane,
        length: Length,
        arguments: &A,
        work: for<'t> fn(&'t Transaction<'t>, &'t A) -> Work<'t, T>,
    ) -> Result<T, Fault> {
        let lent = self.connections.lend(lane).await?;
        let transaction = Transaction { lent: &lent, database: self };
        let statements = async {
            transaction.begin(length).await?;
            work(&transaction, arguments).await
        };
        let done = match length {
            Length::Unlimited => statements.await?,
            Length::Call => tokio::time::timeout(CALL, statements)
                .await
                .map_err(|_| late("PostgreSQL", CALL))??,
        };
        transaction.commit().await?;
        lent.give_back();
        Ok(done)
    }
}

impl Transaction<'_> {
    async fn begin(&self, length: Length) -> Result<(), Fault> {
        let millis = match length {
            Length::Call => STATEMENT_MILLIS,
            Length::Unlimited => 0,
        };
        let begin = format!("{}'{millis}', true)", self.database.begin);
        self.lent.session().client.batch_execute(&begin).await.map_err(|error| {
            // What PgBouncer answers to BEGIN where each statement may run on another connection.
            if error.code() == Some(&SqlState::PROTOCOL_VIOLATION) {
                return Fault::Ours(Error::unusable(
                    "a pooler before PostgreSQL refuses transactions: set pool_mode to transaction or session",
                ));
            }
            Fault::Driver(error)
        })
    }

    /// Commits, and fails if it is not known that the transaction is safe.
    ///
    /// It is never cancelled and has no time-out: both end the wait for a standby, and PostgreSQL then answers as if all were
    /// well, with a warning. So a warning means that the outcome is unknown.
    async fn commit(&self) -> Result<(), Fault> {
        let session = self.lent.session();
        let before = session.notices.load(Ordering::SeqCst);
        let commit = "SELECT set_config('statement_timeout', '0', true); COMMIT";
        session.client.batch_execute(commit).await.map_err(|error| match error.code() {
            Some(_) => Fault::Driver(error),
            None => Fault::Ours(
                Error::unavailable(
                    "the connection was lost during a commit: its outcome is unknown",
                )
                .because(error.to_string()),
            ),
        })?;
        if session.notices.load(Ordering::SeqCst) != before {
            return Err(Fault::Ours(Error::unavailable(
                "PostgreSQL committed with a warning, so that a standby may lack it: its outcome is unknown",
            )));
        }
        Ok(())
    }

    /// The rows that a statement returns.
    pub(crate) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Fault> {
        Ok(self.lent.session().client.query_typed(statement, parameters).await?)
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(crate) async fn execute(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<u64, Fault> {
        Ok(self.lent.session().client.execute_typed(statement, parameters).await?)
    }

    /// Runs statements without parameters.
    pub(crate) async fn batch(&self, statements: &str) -> Result<(), Fault> {
        Ok(self.lent.session().client.batch_execute(statements).await?)
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

/// The one row of a statement that always returns one.
pub(crate) fn first(rows: &[Row]) -> Result<&Row, Fault> {
    rows.first().ok_or(Fault::Vanished)
}
