mod server_warnings;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Completion, Error, Finding, Inbox,
    store::{
        Arrival, Claim, Claims, Lease, Outcome, Pending, Recorded, Settled, StoreHealth,
        tables::{
            Run,
            script::{Check, Extend, Script},
        },
        to_millis,
    },
};
use tokio::time::timeout;

use self::server_warnings::Findings;
use crate::{
    batches::Batches,
    connection::{Access, Database, PoolKind, Transaction, Work},
    fault::{Fault, late},
    log,
    notifications::Notifications,
    probe::Probe,
    schema::{self, CheckServer, ServerFindings},
    settings::{PostgresSettings, Purpose},
    tables::Scripted,
};

/// How long a query of the server's settings, or a probe for health, may take. The health of an inbox waits for two seconds.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(1);

/// How long health goes by the last probe.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);

/// The inbox in PostgreSQL, for the receivers and workers of any number of machines.
///
/// The time is the database's, so that the clocks of the machines do not matter. Leases end by themselves: a node that
/// starts frees none.
///
/// What an operator must change refuses a [start](Self::connect). Later, a refused role, a missing database or a server that
/// is not safe any more is an outage: calls fail with the cause, and go on by themselves once it has ended. The server and
/// the tables are checked when a connection is made, and every minute.
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
    faults: Arc<Findings>,
    warnings: Arc<Findings>,
    /// What hinders workers, as the last probe found it.
    hindrances: Arc<Findings>,
}

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
    /// Connects, checks the server, and creates the tables or brings them up to this version, if the role may
    /// ([`PostgresSettings::migrate`] does it as another). Nodes that start at once wait for each other.
    ///
    /// # Errors
    ///
    /// Each says what to do: the server cannot be reached, does not answer within 10 seconds, refuses the connection, is
    /// older than 13, is a standby, or has `fsync` or `full_page_writes` off; a pooler before it refuses transactions; the
    /// connection needs TLS, and the server offers none, the feature `tls` is off, or no cryptography provider is installed; the
    /// role may not create tables, or lacks a right to one; the sequence of the tables is at its end; the schema has tables of a newer version that are not compatible with
    /// this one, or others of the same names; a table is unlogged, or has a rule, a policy or a trigger that may skip or hide
    /// rows; `search_path` names another schema before `pg_catalog`.
    pub async fn connect(settings: PostgresSettings) -> Result<Self, Error> {
        let database = Arc::new(Database::new(settings)?);
        let prepared = schema::prepare(&database).await.map_err(|fault| fault.refusal())?;
        let PostgresSettings { node, schema, .. } = &database.settings;
        log::opened(node, schema, prepared.version, database.settings.protection().name());
        let connections = database.settings.receiving;
        let recording = Arc::new(Batches::new(Arc::clone(&database), connections));
        // Outcomes of one connection share most commits, and leave the others to claims.
        let settling = Arc::new(Batches::new(Arc::clone(&database), 1));
        let notifications = Arc::new(Notifications::new(Arc::clone(&database)));
        let [faults, warnings, hindrances] = [(); 3].map(|()| Arc::default());
        let store =
            Self { database, notifications, recording, settling, faults, warnings, hindrances };
        store.note(prepared.findings);
        Ok(store)
    }

    fn note(&self, found: ServerFindings) {
        self.faults.set(found.faults);
        self.warnings.set(found.warnings);
    }

    /// Tries what deliveries and workers do. Fails if deliveries cannot be stored.
    async fn probe_by(&self, pool: PoolKind, access: Access) -> Result<(), Error> {
        let changed = self.database.transact(pool, access, Probe::new()?).await?;
        let hindrance =
            changed.err().map(|error| format!("workers cannot change entries: {error}"));
        self.hindrances.set(Vec::from_iter(hindrance));
        Ok(())
    }

    /// Extends leases, in one transaction or each in one of its own. A lease whose entry another transaction holds, because the
    /// application completes it, counts as held.
    async fn extend_all(
        database: &Database,
        leases: Vec<Lease>,
        by: Duration,
    ) -> Result<Vec<Lease>, Error> {
        let (pool, access) = (PoolKind::Working, Access::Shared);
        let all = Scripted(Extend(leases, by));
        match database.retried(pool, access, &all).await {
            Err(fault) if fault.may_be_of_one_call() => {}
            extended => return Ok(extended?),
        }
        let mut held = Vec::new();
        for lease in all.0.0 {
            match database.retried(pool, access, &Scripted(Extend(vec![lease], by))).await {
                Err(fault) if fault.is_locked() => held.push(lease),
                Err(fault) if fault.may_be_of_one_call() => {}
                extended => held.extend(extended?),
            }
        }
        Ok(held)
    }
}

/// Looks for damage in everything that is stored, and for settings that lose what was acknowledged.
struct CheckAll;

impl Work for CheckAll {
    type Output = Vec<Finding>;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Vec<Finding>, Fault> {
        let ServerFindings { faults, warnings } = CheckServer.run(tx).await?;
        let found = Scripted(Check).run(tx).await?;
        let damage = tx.take_damage().into_iter().chain(found).map(Finding::Damage);
        Ok(faults.into_iter().chain(warnings).map(Finding::Setting).chain(damage).collect())
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("settings", &self.database.settings)
            .finish_non_exhaustive()
    }
}

impl Run for PostgresStore {
    fn now(&self) -> SystemTime {
        self.database.now()
    }

    fn write<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        Box::pin(self.database.transact(PoolKind::Working, Access::Write, Scripted(script)))
    }

    fn read<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        Box::pin(self.database.transact(PoolKind::Working, Access::Read, Scripted(script)))
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
        self.notifications.listen();
        Box::pin(self.database.transact(PoolKind::Working, Access::Lease, Scripted(claim)))
    }

    fn extend(&self, leases: Vec<Lease>, by: Duration) -> Pending<'_, Vec<Lease>> {
        let database = Arc::clone(&self.database);
        Box::pin(async move {
            self.database.spawn(async move { Self::extend_all(&database, leases, by).await }).await
        })
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        Box::pin(self.settling.run((lease, outcome)))
    }

    /// The statement decides by itself, and must agree with [`Row::settle`](article_webhook_inbox::store::Row::settle) for
    /// `Outcome::Done`. It reports nothing to the ledger: the job of a leased entry had its article already. A test's clock is
    /// not the database's, so then the statement has the time of this call.
    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.database.connections.check_open()?;
        let mut parameters = vec![lease.id, lease.fence];
        let now = match &self.database.settings.clock {
            None => "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            Some(clock) => {
                parameters.push(to_millis(clock.now()));
                "$3"
            }
        };
        let sql = format!(
            "UPDATE {}.article_inbox_entries SET state = 'done', at = {now}, since = {now} \
             WHERE id = $1 AND fence = $2 AND state = 'leased' AND lease_end > {now}",
            self.database.schema()
        );
        Ok(Completion::new(sql, parameters))
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move {
            // It takes long and changes nothing, so that closing does not wait for it.
            self.database.connections.check_open()?;
            match self.database.beside(&CheckAll).await {
                Err(Fault::Unsuitable(finding)) => Ok(vec![Finding::Setting(finding)]),
                checked => Ok(checked?),
            }
        })
    }

    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(self.probe_by(PoolKind::Receiving, Access::Write))
    }

    /// While nothing can be committed, it reports why, and what was found last, also if the server does not answer.
    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async move {
            self.database.connections.check_open()?;
            let findings = self.database.transact(PoolKind::Working, Access::Read, CheckServer);
            let probe = async {
                let works = self.database.settings.purpose == Purpose::Work;
                if works && self.hindrances.are_older_than(PROBE_INTERVAL) {
                    // A lease waits for no standby. Whether deliveries can be stored, `writable` says.
                    _ = self.probe_by(PoolKind::Working, Access::Lease).await;
                }
            };
            let probe = timeout(HEALTH_TIMEOUT, probe);
            let (found, _) = tokio::join!(timeout(HEALTH_TIMEOUT, findings), probe);
            let mut health = StoreHealth::default();
            health.blocked = self.database.blocked.get();
            match found.unwrap_or_else(|_| Err(late("PostgreSQL", HEALTH_TIMEOUT))) {
                Ok(found) => self.note(found),
                Err(_) if health.blocked.is_some() => {}
                Err(error) => return Err(error),
            }
            health.findings = self.hindrances.get();
            health.findings.extend(self.faults.get());
            health.findings.extend(self.database.damage.all());
            health.warnings = self.warnings.get();
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
