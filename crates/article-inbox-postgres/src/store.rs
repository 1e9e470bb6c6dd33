mod undelivered;

mod ledger;

use std::{
    borrow::Borrow,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use article_inbox::{
    Body, Completion, Counts, Entry, EntryKey, Error, Filter, Inbox, Page, Prune, Pruned, State,
    store::{
        Arrival, Claim, Claims, Lease, Outcome, Pending, Recorded, Settled, Store, StoreHealth,
        from_millis, to_millis,
    },
};
use article_webhook::JobId;

use self::undelivered::Undelivered;
use crate::{
    connection::{Database, Lane, Length, Transaction, Work},
    fault::late,
    recorder::Recorder,
    schema,
    settings::PostgresSettings,
    statements,
};

/// How long a start may take.
const START: Duration = Duration::from_secs(10);

/// The inbox in PostgreSQL, for the receivers and workers of any number of machines.
///
/// The time is the database's, so that the clocks of the machines do not matter. Leases end by themselves: a node that
/// starts frees none.
///
/// Calls run on the runtime in which the store was connected. It must outlive them.
///
/// ```no_run
/// use article_inbox::store::Store;
/// use article_inbox_postgres::{PostgresSettings, PostgresStore};
///
/// #[tokio::main]
/// async fn main() -> Result<(), article_inbox::Error> {
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
    recorder: Arc<Recorder>,
    time: Arc<KnownTime>,
    /// What an operator should know of the server.
    notes: Arc<[String]>,
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
    /// role may not create tables; the schema has tables of a newer version, or others of the same names.
    pub async fn connect(settings: PostgresSettings) -> Result<Self, Error> {
        let database = Arc::new(Database::new(settings)?);
        let prepared = async { Ok::<_, Error>(schema::prepare(&database).await?) };
        let (notes, now) = tokio::time::timeout(START, prepared)
            .await
            .map_err(|_| late("PostgreSQL", START))??;
        let time = Arc::new(KnownTime(Mutex::new((now, Instant::now()))));
        let recorder = Arc::new(Recorder::new(Arc::clone(&database)));
        Ok(Self { database, recorder, time, notes: notes.into() })
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
        Box::pin(self.recorder.record(arrival))
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        Box::pin(async move {
            let database = Arc::clone(&self.database);
            let claimed = self.database.spawn(async move {
                let (lane, length) = (Lane::Working, Length::Call);
                let claims = database.retried(lane, length, &claim, statements::claim).await?;
                let leases = claims.claimed.iter().map(|claimed| claimed.lease).collect();
                Ok(Undelivered::new(claims, leases, statements::release, database))
            });
            Ok(claimed.await?.deliver())
        })
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        self.transact((leases.to_vec(), lease), statements::extend)
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        self.transact((lease, outcome), statements::settle)
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.database.connections.check_open()?;
        let settings = &self.database.settings;
        let given = settings.clock.as_ref().map(|clock| clock.now());
        Ok(statements::completion(&settings.schema, lease, given))
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
        self.transact((key, from), statements::requeue)
    }

    fn bury(&self, key: EntryKey, cause: String) -> Pending<'_, bool> {
        self.transact((key, cause), statements::bury)
    }

    /// The rows are gone with the commit. Their bytes stay in the files until vacuum has used their space again, and in the
    /// log, its archive and backups as long as these are kept.
    fn forget(&self, job_id: JobId) -> Pending<'_, u64> {
        self.transact(job_id, statements::forget)
    }

    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool> {
        self.transact((entry, bodies), statements::import)
    }

    fn check(&self) -> Pending<'_, Vec<String>> {
        Box::pin(async move {
            let database = Arc::clone(&self.database);
            let check = async move {
                let (lane, length) = (Lane::Working, Length::Unlimited);
                Ok(database.retried(lane, length, &(), statements::check).await?)
            };
            self.database.spawn(check).await
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(self.database.transact(Lane::Receiving, (), statements::probe))
    }

    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async move {
            let now = self.database.transact(Lane::Receiving, (), statements::now).await?;
            self.time.set(now);
            let mut health = StoreHealth::default();
            health.findings = self.notes.to_vec();
            Ok(health)
        })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(self.database.connections.close())
    }
}

impl KnownTime {
    fn now(&self) -> SystemTime {
        let (time, read) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        from_millis(to_millis(time + read.elapsed()))
    }

    fn set(&self, time: SystemTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (time, Instant::now());
    }
}
