mod claim_guard;
mod damage;
mod scan_policy;
mod server_warnings;

mod claims;
mod ledger;

use std::{
    borrow::Borrow,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Body, Completion, Counts, Entry, EntryKey, Error, Filter, Finding, Inbox, Page, Prune, Pruned,
    State,
    store::{
        Arrival, Claim, Claims, Lease, Outcome, Pending, Recorded, Settled, Store, StoreHealth,
        from_millis, to_millis,
    },
};
use tokio::time::timeout;

use self::{damage::Damage, scan_policy::Scans, server_warnings::Findings};
use crate::{
    batches::Batches,
    connection::{Database, Lane, Transaction, Work},
    fault::{Fault, late},
    notifications::Notifications,
    schema,
    settings::PostgresSettings,
    statements,
};

/// How long a start may take: it is told within ten seconds, also by a machine that is busy.
const START: Duration = Duration::from_secs(9);

/// How long a look at the server may take. The health of an inbox waits for two seconds.
const LOOK: Duration = Duration::from_secs(1);

/// The inbox in PostgreSQL, for the receivers and workers of any number of machines.
///
/// The time is the database's, so that the clocks of the machines do not matter. Leases end by themselves: a node that
/// starts frees none.
///
/// What an operator must change refuses a [start](Self::connect). Later, a refused role, a missing database or a server that
/// is not safe any more is an outage: calls fail with the cause, and go on by themselves once it has ended. The server is
/// judged when a connection is made, and every few minutes.
///
/// While another transaction holds an old snapshot, or very many entries are leased, most claims go on from where the last one
/// ended. Then an entry that was committed late, or whose lease has ended, may wait longer than its turn: until a claim
/// reads everything, which is within a minute, or within as long as that takes if it takes longer.
///
/// Calls run on the runtime in which the store was connected. It must outlive them, and must be driven meanwhile: calls do not
/// end while a current-thread runtime is outside `block_on`.
///
/// ```no_run
/// use article_webhook_inbox::store::Store;
/// use article_webhook_postgres::{PostgresSettings, PostgresStore};
///
/// #[tokio::main]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let settings = PostgresSettings::new("postgresql://blog:secret@db.example/blog")?.schema("inbox")?;
///     let store = PostgresStore::connect(settings).await?;
///     println!("{} entries", store.counts().await?.total());
///
///     store.close().await?;
///     assert_eq!(store.counts().await.unwrap_err().to_string(), "the inbox is closed");
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct PostgresStore {
    database: Arc<Database>,
    notifications: Arc<Notifications>,
    recording: Arc<Batches<Arrival>>,
    settling: Arc<Batches<(Lease, Outcome)>>,
    scans: Arc<Scans>,
    time: Arc<KnownTime>,
    damage: Arc<Damage>,
    findings: Arc<Findings>,
}

/// The database's time, as it was read last.
struct KnownTime(Mutex<(SystemTime, Instant)>);

/// The inbox in the database of this URL, with the settings that suit most applications. Its tables are in the schema
/// `public`, and are created if they are not there.
///
/// # Errors
///
/// As [`PostgresSettings::new`] and [`PostgresStore::connect`].
pub async fn connect(url: &str) -> Result<Inbox, Error> {
    Ok(Inbox::new(PostgresStore::connect(PostgresSettings::new(url)?).await?))
}

impl PostgresStore {
    /// Connects, judges the server, and creates the tables or brings them up to this version. Nodes that start at once wait
    /// for each other.
    ///
    /// # Errors
    ///
    /// Each says what to do: the server cannot be reached, does not answer within 10 seconds, refuses the connection, is
    /// older than 13, is a standby, or has `fsync` or `full_page_writes` off; a pooler before it refuses transactions; the
    /// role may not create tables, or lacks a right to one; the schema has tables of a newer version, or others of the same
    /// names; a table is unlogged, or has a rule, a policy or a trigger that may skip or hide rows; `search_path` names another
    /// schema before `pg_catalog`.
    pub async fn connect(settings: PostgresSettings) -> Result<Self, Error> {
        let database = Arc::new(Database::new(settings)?);
        let prepared = timeout(START, schema::prepare(&database)).await;
        let prepared = prepared.map_err(|_| late("PostgreSQL", START))?;
        let (findings, now) = prepared.map_err(|fault| fault.refusal())?;
        let time = Arc::new(KnownTime(Mutex::new((now, Instant::now()))));
        let connections = database.settings.receiving;
        let recording = Arc::new(Batches::new(Arc::clone(&database), connections));
        // Outcomes of one connection share most commits, and leave the others to claims.
        let settling = Arc::new(Batches::new(Arc::clone(&database), 1));
        let (scans, damage) = (Arc::new(Scans::new()), Arc::default());
        let notifications = Arc::new(Notifications::new(Arc::clone(&database)));
        let known = Arc::new(Findings::default());
        known.set(findings);
        Ok(Self {
            database,
            notifications,
            recording,
            settling,
            scans,
            time,
            damage,
            findings: known,
        })
    }

    /// One transaction on the connections for workers and operators.
    fn transact<A, B, T>(
        &self,
        arguments: A,
        work: for<'t> fn(&'t Transaction<'t>, &'t B) -> Work<'t, T>,
    ) -> Pending<'_, T>
    where
        A: Borrow<B> + Send + Sync + 'static,
        B: Sync + ?Sized + 'static,
        T: Send + 'static,
    {
        Box::pin(self.database.transact(Lane::Working, arguments, work))
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("settings", &self.database.settings)
            .finish_non_exhaustive()
    }
}

impl Store for PostgresStore {
    fn now(&self) -> SystemTime {
        let clock = self.database.settings.clock.as_ref();
        clock.map_or_else(|| self.time.now(), |clock| from_millis(to_millis(clock.now())))
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        Box::pin(async move {
            let recorded = self.recording.run(arrival).await?;
            if matches!(recorded, Recorded::Stored | Recorded::Arrived { .. }) {
                self.notifications.send();
            }
            Ok(recorded)
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        Box::pin(async move {
            self.notifications.listen();
            let claimed = self.database.spawn(claims::claim(self.clone(), claim));
            Ok(claimed.await?.deliver())
        })
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        let (database, leases) = (Arc::clone(&self.database), leases.to_vec());
        Box::pin(async move {
            self.database.spawn(async move { claims::extend(&database, leases, lease).await }).await
        })
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        Box::pin(self.settling.run((lease, outcome)))
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.database.connections.check_open()?;
        let given = self.database.settings.clock.as_ref().map(|clock| clock.now());
        Ok(statements::completion(self.database.schema(), lease, given))
    }

    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        self.transact(prune, statements::prune)
    }

    fn counts(&self) -> Pending<'_, Counts> {
        self.transact((), statements::counts)
    }

    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        self.transact((), statements::due_since)
    }

    fn list(&self, filter: Filter) -> Pending<'_, Page> {
        self.transact(filter, statements::list)
    }

    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        self.transact(key, statements::show)
    }

    fn requeue(&self, key: EntryKey, from: Option<State>) -> Pending<'_, bool> {
        Box::pin(async move {
            let requeued = self.transact((key, from), statements::requeue).await;
            self.scans.put_back();
            requeued
        })
    }

    fn bury(&self, key: EntryKey, cause: String) -> Pending<'_, bool> {
        self.transact((key, cause), statements::bury)
    }

    fn pause(&self) -> Pending<'_, ()> {
        self.transact((), statements::pause)
    }

    fn resume(&self) -> Pending<'_, ()> {
        self.transact((), statements::resume)
    }

    fn paused_since(&self) -> Pending<'_, Option<SystemTime>> {
        self.transact((), statements::paused_since)
    }

    /// The rows are gone with the commit. Their bytes stay in the files until vacuum has used their space again, and in the
    /// log, its archive and backups as long as these are kept.
    fn forget(&self, job_id: JobId) -> Pending<'_, u64> {
        self.transact(job_id, statements::forget)
    }

    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool> {
        Box::pin(async move {
            let imported = self.transact((entry, bodies), statements::import).await;
            self.scans.put_back();
            imported
        })
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move {
            // It takes long and changes nothing, so that closing does not wait for it.
            self.database.connections.check_open()?;
            match self.database.beside(&(), statements::check).await {
                Err(Fault::Unfit(finding)) => Ok(vec![Finding::Setting(finding)]),
                checked => Ok(checked?),
            }
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(self.database.transact(Lane::Receiving, (), statements::probe))
    }

    /// While nothing can be committed, it tells why, and what was found last, also if the server does not answer.
    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async move {
            self.database.connections.check_open()?;
            let look = self.database.transact(Lane::Working, (), schema::look);
            let looked = timeout(LOOK, look).await;
            let mut health = StoreHealth::default();
            health.blocked = self.database.blocked.get();
            match looked.unwrap_or_else(|_| Err(late("PostgreSQL", LOOK))) {
                Ok((findings, now)) => {
                    self.time.set(now, Instant::now());
                    self.findings.set(findings);
                }
                Err(_) if health.blocked.is_some() => {}
                Err(error) => return Err(error),
            }
            health.findings = self.findings.get();
            health.findings.extend(self.damage.all());
            Ok(health)
        })
    }

    fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.notifications.wake_with(wake);
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let closing = self.database.connections.close();
            // Closing has begun once it waits, so that nothing listens after this.
            tokio::join!(biased; closing, async { self.notifications.close() }).0
        })
    }
}

impl KnownTime {
    fn now(&self) -> SystemTime {
        let (time, read) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        from_millis(to_millis(time + read.elapsed()))
    }

    fn set(&self, time: SystemTime, read: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (time, read);
    }
}
