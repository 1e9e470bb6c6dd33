use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{
    Error,
    store::{Findings, from_millis, to_millis},
};

use super::{
    commit::{COMMIT_TIMEOUT, commit, unanswered},
    last_error::LastError,
    pool::{CheckedOut, Connections, PoolKind},
    transaction::{Access, Transaction, Work, Writes},
};
use crate::{
    fault::{Fault, late},
    settings::{PostgresSettings, Purpose},
};

/// How long the statements of a call may take together. It is longer than a caller waits, and ends a
/// transaction on a server that does not answer.
const CALL_TIMEOUT: Duration = Duration::from_secs(9);

/// Where transactions run: the connections, the schema and the clock.
pub(crate) struct Database {
    pub(crate) connections: Connections,
    pub(crate) settings: PostgresSettings,
    /// What fails on the connections that store deliveries.
    pub(crate) blocked: LastError,
    pub(crate) damage: Findings,
    /// The server's time as a transaction read it last, and when that began.
    time: Mutex<(SystemTime, Instant)>,
    /// The schema of the tables, as statements name it: a plain name may be a word of SQL.
    schema: String,
    /// What begins a transaction of each [`Access`].
    pub(super) begin: [String; 7],
}

impl Database {
    pub(crate) fn new(settings: PostgresSettings) -> Result<Self, Error> {
        let connections = Connections::new(&settings)?;
        let schema = format!("\"{}\"", settings.schema);
        use Access::{Delivery, Lease, Migrate, Read, ReadAll, Shared, Write};
        let all = [Write, Shared, Delivery, Lease, Read, ReadAll, Migrate];
        let begin = all.map(|access| access.begin(&schema));
        let (blocked, damage) = (LastError::default(), Findings::default());
        let time = Mutex::new((SystemTime::now(), Instant::now()));
        Ok(Self { connections, settings, blocked, damage, time, schema, begin })
    }

    /// The server's time, or that of a test's clock.
    pub(crate) fn now(&self) -> SystemTime {
        let clock = self.settings.clock.as_ref();
        let now = clock.map_or_else(
            || {
                let (time, read) = *self.time.lock().unwrap_or_else(PoisonError::into_inner);
                time + read.elapsed()
            },
            |clock| clock.now(),
        );
        from_millis(to_millis(now))
    }

    /// Takes the server's time, which a transaction read that began then.
    pub(super) fn set_time(&self, time: SystemTime, began: Instant) {
        *self.time.lock().unwrap_or_else(PoisonError::into_inner) = (time, began);
    }

    /// The schema of the tables, as statements name it.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// Runs a transaction in a task that no caller cancels, and commits it.
    pub(crate) async fn transact<W: Work>(
        self: &Arc<Self>,
        pool: PoolKind,
        access: Access,
        work: W,
    ) -> Result<W::Output, Error> {
        let database = Arc::clone(self);
        self.spawn(async move { Ok(database.retried(pool, access, &work).await?) }).await
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
    pub(crate) async fn retried<W: Work>(
        &self,
        pool: PoolKind,
        access: Access,
        work: &W,
    ) -> Result<W::Output, Fault> {
        let (mut attempt, began) = (1, Instant::now());
        let outcome = loop {
            match self.once(pool, access, work).await {
                Err(fault) if attempt < fault.attempts() && began.elapsed() < COMMIT_TIMEOUT => {
                    attempt += 1;
                }
                outcome => break outcome,
            }
        };
        if pool == PoolKind::Receiving {
            // Here, and not by the caller: it may have given up before.
            self.blocked.note(&outcome);
        }
        outcome
    }

    async fn once<W: Work>(
        &self,
        pool: PoolKind,
        access: Access,
        work: &W,
    ) -> Result<W::Output, Fault> {
        if self.settings.purpose == Purpose::Read && !access.is_read_only() {
            let refused = "this inbox is opened to be read alone: open it without PostgresSettings::read_only";
            return Err(Error::unusable(refused).into());
        }
        let connection = self.connections.check_out(pool).await?;
        self.run(connection, access, work).await
    }

    /// Runs a transaction that takes long on a connection of its own, and keeps no other waiting.
    pub(crate) async fn beside<W: Work>(&self, work: &W) -> Result<W::Output, Fault> {
        let connection = self.connections.connect_dedicated().await?;
        self.run(connection, Access::ReadAll, work).await
    }

    async fn run<W: Work>(
        &self,
        connection: CheckedOut,
        access: Access,
        work: &W,
    ) -> Result<W::Output, Fault> {
        let statements = async {
            let mut transaction = Transaction::new(connection.session(), self, access);
            let done = work.run(&mut transaction).await;
            transaction.report_damage();
            Ok::<_, Fault>((done?, transaction.end()))
        };
        let done = match access {
            Access::ReadAll | Access::Migrate => statements.await,
            _ => tokio::time::timeout(CALL_TIMEOUT, statements)
                .await
                .unwrap_or_else(|_| Err(late("PostgreSQL", CALL_TIMEOUT).into())),
        };
        match done? {
            (done, Some(writes)) => self.commit(connection, writes).await.map(|()| done),
            (done, None) => {
                connection.check_in();
                Ok(done)
            }
        }
    }

    /// Writes what is left and commits, in one round trip, and checks the connection in. A COMMIT that takes too long
    /// goes on without its caller: cancelling it would not undo it.
    async fn commit(&self, connection: CheckedOut, writes: Writes) -> Result<(), Fault> {
        let mut commit = Box::pin(async move {
            // The first error is the cause of that after it.
            let session = connection.session();
            let sent = tokio::try_join!(biased; writes.send(session), commit(session));
            let committed = sent.map(drop);
            if committed.is_ok() {
                connection.check_in();
            }
            committed
        });
        if let Ok(committed) = tokio::time::timeout(COMMIT_TIMEOUT, &mut commit).await {
            return committed;
        }
        self.connections.keep(commit);
        Err(unanswered())
    }
}
