use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use article_inbox::{
    Digest, EntryKey, Error, Source,
    store::{Arrival, Claim, Events, Outcome, Recorded, Settled, Store as _},
};
use article_inbox_postgres::{PostgresSettings, PostgresStore};

use super::shared;
use crate::{
    database::Database,
    form::Form,
    proxy::{Fate, Proxy},
    scene::{self, wait},
    server::Server,
    trial,
};

/// A request that commits and its answer are shorter.
const POINTS: usize = 200;

/// The connection is cut after each byte of a COMMIT, and of its answer: of each call that changes something, and then of
/// nodes at random.
pub(crate) fn cut(form: Form) -> Option<()> {
    let server = shared()?;
    let proxy = Proxy::before(server.port);
    let (cuts, unknown) = wait(cut_at_each_point(server, &proxy, form)).unwrap();
    println!("postgres: cut: {cuts} cuts within a commit, {unknown} outcomes unknown, none false");

    let database = Database::fresh(&[server.port]).through(proxy.port);
    trial::run("cut", database, |trial| {
        let cuts = Arc::new(AtomicUsize::new(0));
        count(&proxy, &cuts, || {
            let at = fastrand::usize(..POINTS);
            if fastrand::bool() { Fate::CutRequest(at) } else { Fate::CutAnswer(at) }
        });
        let wanted = form.choose(100, 1000);
        wait_for(&cuts, wanted);
        proxy.fate(|| Fate::Passed);
        trial.goes_on("after the cuts");
        format!("{wanted} commits cut")
    });
    Some(())
}

/// The server commits, and its answer is lost.
pub(crate) fn lost_commit(form: Form) -> Option<()> {
    let server = shared()?;
    let proxy = Proxy::before(server.port);
    let database = Database::fresh(&[server.port]).through(proxy.port);
    trial::run("lost_commit", database, |trial| {
        let lost = Arc::new(AtomicUsize::new(0));
        count(&proxy, &lost, || Fate::CutAnswer(0));
        let wanted = form.choose(100, 1000);
        wait_for(&lost, wanted);
        proxy.fate(|| Fate::Passed);
        trial.goes_on("after the losses");
        format!("{wanted} answers to COMMIT lost")
    });
    Some(())
}

/// One commit in four has this fate.
fn count(proxy: &Proxy, counter: &Arc<AtomicUsize>, fate: impl Fn() -> Fate + Send + 'static) {
    let counter = Arc::clone(counter);
    proxy.fate(move || {
        if fastrand::u32(..4) > 0 {
            return Fate::Passed;
        }
        counter.fetch_add(1, Ordering::SeqCst);
        fate()
    });
}

fn wait_for(counter: &AtomicUsize, wanted: usize) {
    while counter.load(Ordering::SeqCst) < wanted {
        thread::sleep(Duration::from_millis(10));
    }
}

async fn cut_at_each_point(
    server: &Server,
    proxy: &Proxy,
    form: Form,
) -> Result<(usize, usize), Error> {
    let url = format!("postgresql://postgres@127.0.0.1:{}/postgres", proxy.port);
    let schema = scene::fresh_schema();
    let settings = PostgresSettings::new(&url)?.schema(&schema)?;
    let direct = PostgresSettings::new(&server.url())?.schema(&schema)?;
    let store = PostgresStore::connect(settings).await?;
    let direct = PostgresStore::connect(direct).await?;
    let (mut cuts, mut unknown) = (0, 0);
    let points = (0..POINTS).step_by(form.choose(3, 1));
    let fates = points.flat_map(|at| [Fate::CutRequest(at), Fate::CutAnswer(at)]);
    for (number, fate) in fates.enumerate() {
        let arrival = || arrival(&format!("job_{number}"));
        cuts += 3;
        proxy.once(fate);
        let recorded = store.record(arrival()).await;
        unknown += usize::from(recorded.is_err());
        // What was acknowledged is there. What was not may be there.
        let again = direct.record(arrival()).await?;
        assert!(recorded.is_err() || again == Recorded::Duplicate, "{fate:?}: {recorded:?}");

        proxy.once(fate);
        let claim = Claim {
            limit: 1,
            lease: Duration::from_millis(300),
            attempts: 100,
            running: 0,
            events: Events::All,
        };
        let claimed = store.claim(claim).await;
        unknown += usize::from(claimed.is_err());
        let lease = match claimed {
            Ok(claims) => claims.claimed[0].lease,
            Err(_) => loop {
                // A lease of which no worker knows ends by itself.
                match direct
                    .claim(Claim { lease: claim.lease * 100, ..claim })
                    .await?
                    .claimed
                    .first()
                {
                    Some(claimed) => break claimed.lease,
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            },
        };
        direct.extend(&[lease], Duration::from_secs(60)).await?;

        proxy.once(fate);
        let settled = store.settle(lease, Outcome::Done).await;
        unknown += usize::from(settled.is_err());
        let again = direct.settle(lease, Outcome::Done).await?;
        assert!(settled.is_err() || again == Settled::AlreadyDone, "{fate:?}: {settled:?}");
        assert_ne!(again, Settled::LostLease, "{fate:?}");
    }
    assert!(direct.check().await?.is_empty());
    Ok((cuts, unknown))
}

pub(crate) fn arrival(job: &str) -> Arrival {
    Arrival {
        key: EntryKey::article(job.parse().unwrap()),
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest: Digest::of(job.as_bytes()),
        bytes: job.as_bytes().to_vec().into(),
    }
}
