use std::{
    borrow::Borrow,
    sync::Arc,
    time::{Duration, Instant},
};

use article_webhook_inbox::Error;

use super::{
    commit::{PATIENCE, commit, unanswered},
    last_error::LastError,
    pool::{Connections, Lane, Lent},
    transaction::{Ending, IDLE_MILLIS, Length, STATEMENT_MILLIS, Transaction, Work},
};
use crate::{
    fault::{Fault, late},
    settings::PostgresSettings,
};

/// How long the statements of a call may take together. It is longer than the patience of a caller, and ends a
/// transaction on a server that does not answer.
const CALL: Duration = Duration::from_secs(10);

/// Where transactions run: the connections, the schema and the clock.
pub(crate) struct Database {
    pub(crate) connections: Connections,
    pub(crate) settings: PostgresSettings,
    /// What fails on the connections that store deliveries.
    pub(crate) blocked: LastError,
    /// The schema of the tables, as statements name it: a plain name may be a word of SQL.
    schema: String,
    /// The first part of what begins a transaction.
    pub(super) begin: String,
    /// What begins a transaction whose one statement sets the rest.
    pub(super) begin_at_once: String,
}

impl Database {
    pub(crate) fn new(settings: PostgresSettings) -> Result<Self, Error> {
        let connections = Connections::new(&settings)?;
        // Everything is set for the transaction alone: a pooler may give the session to others. A name in `pg_temp` never
        // hides a table. Notices are told from warnings by what is sent at all.
        let schema = format!("\"{}\"", settings.schema);
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
             SELECT set_config('search_path', '{schema}, pg_temp', true), \
             set_config('idle_in_transaction_session_timeout', '{IDLE_MILLIS}', true), \
             set_config('client_min_messages', 'warning', true), set_config('row_security', 'off', true), \
             CASE WHEN current_setting('synchronous_commit') <> 'remote_apply' \
             THEN set_config('synchronous_commit', 'on', true) END, \
             set_config('lock_timeout', '"
        );
        let begin_at_once = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = {STATEMENT_MILLIS}"
        );
        let blocked = LastError::default();
        Ok(Self { connections, settings, blocked, schema, begin, begin_at_once })
    }

    /// The schema of the tables, as statements name it.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
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
        let (mut attempt, began) = (1, Instant::now());
        let outcome = loop {
            match self.once(lane, length, arguments, work).await {
                Err(fault) if attempt < fault.attempts() && began.elapsed() < PATIENCE => {
                    attempt += 1;
                }
                outcome => break outcome,
            }
        };
        if lane == Lane::Receiving {
            // Here, and not by the caller: it may have given up before.
            self.blocked.note(&outcome);
        }
        outcome
    }

    async fn once<A: Sync + ?Sized, T>(
        &self,
        lane: Lane,
        length: Length,
        arguments: &A,
        work: for<'t> fn(&'t Transaction<'t>, &'t A) -> Work<'t, T>,
    ) -> Result<T, Fault> {
        let lent = self.connections.lend(lane).await?;
        self.run(lent, length, arguments, work).await
    }

    /// Runs a transaction that takes long on a connection of its own, and keeps no other waiting.
    pub(crate) async fn beside<A: Sync + ?Sized, T>(
        &self,
        arguments: &A,
        work: for<'t> fn(&'t Transaction<'t>, &'t A) -> Work<'t, T>,
    ) -> Result<T, Fault> {
        let lent = self.connections.make().await?;
        self.run(lent, Length::Unlimited, arguments, work).await
    }

    async fn run<A: Sync + ?Sized, T>(
        &self,
        lent: Lent,
        length: Length,
        arguments: &A,
        work: for<'t> fn(&'t Transaction<'t>, &'t A) -> Work<'t, T>,
    ) -> Result<T, Fault> {
        let transaction = Transaction::new(&lent, self, length);
        let statements = work(&transaction, arguments);
        let done = match length {
            Length::Unlimited => statements.await,
            Length::Call | Length::Shared => tokio::time::timeout(CALL, statements)
                .await
                .unwrap_or_else(|_| Err(late("PostgreSQL", CALL).into())),
        };
        match (transaction.ending(), done) {
            (Ending::Due, Ok(done)) => self.commit(lent).await.map(|()| done),
            (Ending::Unanswered, done) => {
                // A next statement is answered once that one has ended.
                self.connections.keep(async move {
                    lent.session().client.batch_execute("").await?;
                    lent.give_back();
                    Ok(())
                });
                done
            }
            (_, done) => done.inspect(|_| lent.give_back()),
        }
    }

    /// Commits, and gives the connection back. A COMMIT that takes too long goes on without its caller: cancelling it
    /// would not undo it.
    async fn commit(&self, lent: Lent) -> Result<(), Fault> {
        let mut commit = Box::pin(async move {
            let committed = commit(lent.session()).await;
            if committed.is_ok() {
                lent.give_back();
            }
            committed
        });
        if let Ok(committed) = tokio::time::timeout(PATIENCE, &mut commit).await {
            return committed;
        }
        self.connections.keep(commit);
        Err(unanswered())
    }
}
