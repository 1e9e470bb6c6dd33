use std::{
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    Error, State,
    store::{Arrival, Claim, Lease, Outcome, Recorded, Settled, Store as _},
};
use article_webhook_inbox_contract::{CLAIM_ONE, arrival};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio_postgres::Client;

use super::shared;
use crate::{
    database::Database,
    form::Form,
    proxy::{self, Fate, Proxy},
    scene::{self, wait},
    server::Server,
    trial,
};

const HOUR: Duration = Duration::from_secs(3600);

const CLAIM: Claim = Claim { attempts: 100, ..CLAIM_ONE };

/// The connection is cut after each byte of a request that commits, and of its answer: of each call that changes something, and
/// then of nodes at random.
pub(crate) fn cut(form: Form) -> Option<()> {
    let server = shared()?;
    let proxy = Proxy::before(server.port);
    let step = form.choose(13, 1);
    let Cuts { longest, cuts, unknown } =
        wait(cut_at_each_point(server, proxy.clone(), step)).unwrap();
    let which = if step == 1 { "each point".to_owned() } else { format!("one point in {step}") };
    println!("postgres: cuts: {cuts} cuts, at {which}, {unknown} outcomes unknown, none false");

    let database = Database::fresh(&[server.port]).through(proxy.port);
    trial::run("cut", database, |trial| {
        let wanted = form.choose(50, 1000);
        super::ends::cut_some(&proxy, wanted, move || {
            let at = fastrand::usize(..=longest);
            if fastrand::bool() { Fate::CutRequest(at) } else { Fate::CutAnswer(at) }
        });
        trial.goes_on("after the cuts");
        format!("{wanted} commits cut")
    });
    Some(())
}

/// A call that changes something.
#[derive(Debug, Clone, Copy)]
enum Call {
    Claim,
    Complete,
    Retry,
    Duplicate,
    Record,
}

impl Call {
    /// Part of its transaction.
    fn request(self) -> &'static [u8] {
        match self {
            Self::Claim => proxy::CLAIM,
            Self::Complete | Self::Retry => proxy::SETTLE,
            Self::Record => proxy::RECORD,
            Self::Duplicate => proxy::DUPLICATE,
        }
    }
}

/// What was cut of all calls.
#[derive(Default)]
struct Cuts {
    /// The length of the longest request or answer.
    longest: usize,
    cuts: usize,
    /// How many callers did not get the outcome.
    unknown: usize,
}

async fn cut_at_each_point(server: &Server, proxy: Proxy, step: usize) -> Result<Cuts, Error> {
    let schema = scene::fresh_schema();
    let url = format!("postgresql://postgres@127.0.0.1:{}/postgres", proxy.port);
    let through = PostgresSettings::new(&url)?.schema(&schema)?;
    let direct = PostgresSettings::new(&server.url())?.schema(&schema)?;
    let mut scene = Scene {
        proxy,
        store: PostgresStore::connect(through).await?,
        direct: PostgresStore::connect(direct).await?,
        client: scene::connect(&server.url()).await,
        schema,
        number: 0,
    };
    let mut all = Cuts::default();
    for call in [Call::Claim, Call::Complete, Call::Retry, Call::Duplicate, Call::Record] {
        scene.cut(call, step, &mut all).await?;
    }
    assert!(scene.direct.check().await?.is_empty());
    Ok(all)
}

struct Scene {
    proxy: Proxy,
    /// Through the proxy.
    store: PostgresStore,
    direct: PostgresStore,
    client: Client,
    schema: String,
    number: u32,
}

impl Scene {
    /// Cuts a call at every point, or at some and at both ends.
    async fn cut(&mut self, call: Call, step: usize, all: &mut Cuts) -> Result<(), Error> {
        let (request, answer) = self.lengths(call).await?;
        let (mut cuts, mut unknown) = (0, 0);
        let points = |length: usize| (0..length).step_by(step).chain([length]);
        let fates = points(request).map(Fate::CutRequest);
        for fate in fates.chain(points(answer).map(Fate::CutAnswer)) {
            let is_known = self.is_known(call, fate).await?;
            assert_eq!(is_known, fate == Fate::CutAnswer(answer), "{call:?}, {fate:?}");
            cuts += 1;
            unknown += usize::from(!is_known);
        }
        println!(
            "  {call:?}: a request of {request} bytes and an answer of {answer}, {cuts} cuts, {unknown} outcomes unknown"
        );
        all.longest = all.longest.max(request).max(answer);
        (all.cuts, all.unknown) = (all.cuts + cuts, all.unknown + unknown);
        Ok(())
    }

    /// The lengths of a request and of its answer, when two of them agree.
    async fn lengths(&mut self, call: Call) -> Result<(usize, usize), Error> {
        let mut before = None;
        for _ in 0..20 {
            assert!(self.sent(call, Fate::Passed).await?, "{call:?}");
            let last = self.proxy.last().expect("it was sent");
            let lengths = (last.request, last.answer);
            if before.replace(lengths) == Some(lengths) {
                return Ok(lengths);
            }
        }
        panic!("{call:?} never has the same lengths twice");
    }

    /// Whether the caller got the outcome of a call that was cut.
    async fn is_known(&mut self, call: Call, fate: Fate) -> Result<bool, Error> {
        let is_known = self.sent(call, fate).await?;
        // The caller may have the whole answer before the connection is cut.
        let start = Instant::now();
        while !self.proxy.last().is_some_and(|last| last.is_cut) {
            let is_late = start.elapsed() > Duration::from_secs(10);
            assert!(!is_late, "no cut: {call:?}, {fate:?}");
            thread::sleep(Duration::from_millis(1));
        }
        Ok(is_known)
    }

    /// Makes a call until it comes by the proxy, and returns whether the caller got its outcome. One that found its connection cut
    /// by the one before has sent nothing, and is made again.
    async fn sent(&mut self, call: Call, fate: Fate) -> Result<bool, Error> {
        for _ in 0..20 {
            let is_known = self.attempt(call, fate).await?;
            if self.proxy.last().is_some() {
                return Ok(is_known);
            }
            assert!(!is_known, "{call:?} has not come by the proxy");
        }
        panic!("{call:?} never comes by the proxy");
    }

    /// Makes a call whose commit has this fate, and holds its outcome against the database. Returns whether the caller got it.
    async fn attempt(&mut self, call: Call, fate: Fate) -> Result<bool, Error> {
        self.number += 1;
        // Of one length, as all requests then are.
        let arrival = arrival(&format!("job_{:06}", self.number), "{}");
        match call {
            Call::Record => self.record(arrival, fate, Recorded::Stored).await,
            Call::Duplicate => {
                self.direct.record(arrival.clone()).await?;
                self.record(arrival, fate, Recorded::Duplicate).await
            }
            Call::Claim => self.claim(arrival, fate).await,
            Call::Complete => self.complete(arrival, fate).await,
            Call::Retry => self.retry(arrival, fate).await,
        }
    }

    /// What was acknowledged is there. What was not may be there, and is if it was there before.
    async fn record(
        &self,
        arrival: Arrival,
        fate: Fate,
        expected: Recorded,
    ) -> Result<bool, Error> {
        let call = if expected == Recorded::Stored { Call::Record } else { Call::Duplicate };
        self.proxy.once_of(call.request(), fate);
        let recorded = self.store.record(arrival.clone()).await;
        let again = self.direct.record(arrival).await?;
        if let Ok(recorded) = &recorded {
            assert_eq!((*recorded, again), (expected, Recorded::Duplicate), "{fate:?}");
        } else if expected == Recorded::Duplicate {
            assert_eq!(again, expected, "{fate:?}");
        }
        Ok(recorded.is_ok())
    }

    /// An entry is leased by one caller, or by none that knows.
    async fn claim(&self, arrival: Arrival, fate: Fate) -> Result<bool, Error> {
        self.direct.record(arrival.clone()).await?;
        self.proxy.once_of(Call::Claim.request(), fate);
        let claimed = self.store.claim(CLAIM).await;
        let is_known = claimed.is_ok();
        let lease = match claimed {
            Ok(claims) => claims.claimed[0].lease,
            Err(_) => self.claim_again().await?,
        };
        assert_eq!(self.direct.settle(lease, Outcome::Done).await?, Settled::Settled, "{fate:?}");
        let (entry, _) = self.direct.show(arrival.key).await?.expect("it is there");
        assert_eq!(entry.state, State::Done);
        assert!(entry.attempts == 1 || (entry.attempts == 2 && !is_known), "{fate:?}: {entry:?}");
        Ok(is_known)
    }

    /// Ends a lease of which no worker knows, and claims the entry.
    async fn claim_again(&self) -> Result<Lease, Error> {
        let end = format!(
            "UPDATE {}.article_inbox_entries SET lease_end = 0 WHERE state = 'leased'",
            self.schema
        );
        loop {
            // The claim may be in the middle of its commit.
            self.client.batch_execute(&end).await.unwrap();
            if let Some(claimed) = self.direct.claim(CLAIM).await?.claimed.first() {
                return Ok(claimed.lease);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// What was completed is done. What was not can be completed, or is done.
    async fn complete(&self, arrival: Arrival, fate: Fate) -> Result<bool, Error> {
        let lease = self.leased(arrival).await?;
        self.proxy.once_of(Call::Complete.request(), fate);
        let settled = self.store.settle(lease, Outcome::Done).await;
        let again = self.direct.settle(lease, Outcome::Done).await?;
        match &settled {
            Ok(settled) => {
                assert_eq!((*settled, again), (Settled::Settled, Settled::AlreadyDone), "{fate:?}");
            }
            Err(_) => assert_ne!(again, Settled::LostLease, "{fate:?}"),
        }
        Ok(settled.is_ok())
    }

    /// A failure is noted once, by its caller or by another that has the same lease.
    async fn retry(&self, arrival: Arrival, fate: Fate) -> Result<bool, Error> {
        let key = arrival.key.clone();
        let lease = self.leased(arrival).await?;
        let failed = || Outcome::Retry { after: HOUR, cause: "failed".to_owned() };
        self.proxy.once_of(Call::Retry.request(), fate);
        let settled = self.store.settle(lease, failed()).await;
        let again = self.direct.settle(lease, failed()).await?;
        if let Ok(settled) = &settled {
            assert_eq!((*settled, again), (Settled::Settled, Settled::LostLease), "{fate:?}");
        }
        let (entry, _) = self.direct.show(key).await?.expect("it is there");
        let found = (entry.state, entry.attempts, entry.failures.len());
        assert_eq!(found, (State::Waiting, 1, 1), "{fate:?}");
        Ok(settled.is_ok())
    }

    async fn leased(&self, arrival: Arrival) -> Result<Lease, Error> {
        self.direct.record(arrival).await?;
        Ok(self.direct.claim(CLAIM).await?.claimed[0].lease)
    }
}
