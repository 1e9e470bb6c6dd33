//! Whoever has read the URL of an order delivers to it what the service never sent.
//!
//! An answer to the order, one that says that it was not taken, or one to a poll decides which jobs the URL is good for. A forged job
//! is handed out only while none has, because nothing distinguishes it from the one that was ordered. A forged body of the very
//! job that was ordered is handed out only if no other body is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use article_webhook_inbox::JobState;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Uri};
use tokio::time::sleep;

use crate::{
    deliver::receive,
    observed::Observed,
    world::{HOUR, MINUTE, Urls, World, span},
};

/// Fewer than the ledger polls for one order, so that the job that was ordered is among those.
const MAX_FORGED_JOBS: u32 = 6;

const TITLE: &str = "forged";

/// What was forged, and what of the orders is stored.
#[derive(Debug, Default)]
pub(crate) struct Forgeries {
    /// The jobs that the service does not have, and the intents to whose URLs they were delivered.
    jobs: BTreeMap<String, String>,
    /// Those of them that the ledger knows that the service does not have.
    unknown: BTreeSet<String>,
    /// Those that came while the ledger did not have the order: it had been refused. Then nothing binds its URL to a job.
    unbound: BTreeSet<String>,
    /// Those that an answer to a poll named, which was wrong: as far as the ledger can know, the service has them.
    vouched: BTreeSet<String>,
    orders: BTreeMap<String, Calls>,
}

/// What is stored of the calls of an intent.
#[derive(Debug, Default)]
struct Calls {
    begun: usize,
    refused: usize,
    answers: BTreeSet<String>,
}

/// What became of forged jobs.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Forged {
    delivered: usize,
    /// They were handed out while nothing could distinguish them from ordered articles.
    handled: usize,
    /// The answer to a poll decided.
    not_found: usize,
}

impl Forged {
    pub(crate) fn add(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.handled += other.handled;
        self.not_found += other.not_found;
    }

    pub(crate) fn has_gaps(self) -> bool {
        [self.delivered, self.handled, self.not_found].contains(&0)
    }
}

impl Forgeries {
    pub(crate) fn count(&self, is_done: impl Fn(&str) -> bool) -> Forged {
        Forged {
            delivered: self.jobs.len(),
            handled: self.jobs.keys().filter(|job| is_done(job)).count(),
            not_found: self.unknown.len(),
        }
    }

    pub(crate) fn is_forged(&self, job: &str) -> bool {
        self.jobs.contains_key(job)
    }

    /// The states in which a forged job may end: a handler had its article while nothing could distinguish the two, or it was set
    /// aside.
    pub(crate) fn ends(&self, job: &str) -> &'static [JobState] {
        match (self.is_forged(job), self.vouched.contains(job)) {
            (true, true) => &[JobState::NotFound, JobState::Arrived, JobState::Collected],
            (true, false) => &[JobState::NotFound, JobState::Arrived],
            (false, _) => &[JobState::NotFound],
        }
    }

    /// Whether nothing permits that an order ends as this job.
    pub(crate) fn is_refuted(&self, job: &str) -> bool {
        self.is_forged(job) && !self.vouched.contains(job)
    }

    /// The API answers about it, and should not know it.
    pub(crate) fn vouched(&mut self, job: &str) {
        self.vouched.insert(job.to_owned());
    }

    pub(crate) fn is_forged_for(&self, job: &str, intent: &str) -> bool {
        self.jobs.get(job).is_some_and(|forged_for| forged_for == intent)
    }

    pub(crate) fn begun(&mut self, intent: &str) {
        self.orders.entry(intent.to_owned()).or_default().begun += 1;
    }

    pub(crate) fn refused(&mut self, intent: &str) {
        self.orders.entry(intent.to_owned()).or_default().refused += 1;
    }

    pub(crate) fn answered(&mut self, intent: &str, job: &str) {
        self.orders.entry(intent.to_owned()).or_default().answers.insert(job.to_owned());
    }

    /// A poll shows that the service does not have the job.
    pub(crate) fn not_found(&mut self, job: &str) {
        self.unknown.insert(job.to_owned());
    }

    /// The job was delivered, and is stored.
    pub(crate) fn stored(&mut self, job: &str) {
        self.unknown.remove(job);
        let calls = self.jobs.get(job).and_then(|intent| self.orders.get(intent));
        if calls.is_some_and(|calls| calls.begun == calls.refused) {
            self.unbound.insert(job.to_owned());
        }
    }

    /// Its forged article is handed out.
    pub(crate) fn claimed(&self, job: &str) -> Result<(), String> {
        let Some(intent) = self.jobs.get(job) else { return Ok(()) };
        let calls = self.orders.get(intent);
        let is_open = calls.is_some_and(|calls| calls.begun > calls.refused + calls.answers.len());
        match is_open && !self.unknown.contains(job) || self.unbound.contains(job) {
            true => Ok(()),
            false => {
                Err(format!("{job} is handed out, which is not the job of {intent}: {calls:?}"))
            }
        }
    }
}

/// Whether these are the bytes of a forged article.
pub(crate) fn is_forged(job: &str, bytes: &[u8]) -> bool {
    bytes == body(job)
}

fn body(job: &str) -> Bytes {
    let article = format!(r#"{{"title":"{TITLE}","html":""}}"#);
    format!(r#"{{"job_id":"{job}","status":"complete","article":{article}}}"#).into()
}

/// The order of this intent is sent, with its URL. In some orders that is read on its way, and a forged job may be delivered before
/// anything else.
pub(crate) fn order_is_read(world: &Arc<World>, intent: &str) {
    let Some((count, pauses)) = world.with(|inner| {
        let rng = inner.forger.as_mut()?;
        let pauses: Vec<_> = (0..3).map(|_| span(rng, MINUTE / 600, HOUR * 12)).collect();
        Some((rng.u32(..8).checked_sub(4)?, pauses))
    }) else {
        return;
    };
    for pause in pauses.into_iter().take(count as usize) {
        tokio::spawn(forge(Arc::clone(world), intent.to_owned(), pause));
    }
}

async fn forge(world: Arc<World>, intent: String, pause: std::time::Duration) {
    sleep(pause).await;
    let Some(job) =
        world.with(|inner| forged_job(inner.forger.as_mut()?, &mut inner.observed, &intent))
    else {
        return;
    };
    let capability = world.key.mint(&intent, world.time() + HOUR).expect("an intent fits");
    let uri: Uri = format!("/orders/{}", capability.as_str()).parse().expect("it is a path");
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("content-type", "application/json"),
        ("x-service-event", "article.complete"),
        ("x-service-job-id", &job),
    ] {
        headers.insert(name, HeaderValue::from_str(value).expect("it is legal"));
    }
    let Some(node) = world.any_node() else { return };
    let status = receive(&world, &node, &uri, &headers, body(&job)).await;
    world.note(&format!("{job} is forged for {intent}: {status}"));
}

/// Mostly a job that the service does not have; otherwise one of this intent, if its article is not bound to fail.
fn forged_job(rng: &mut fastrand::Rng, observed: &mut Observed, intent: &str) -> Option<String> {
    let ordered = observed.taken.iter().filter(|(_, of)| *of == intent).map(|(job, _)| job);
    let sound = ordered.filter(|job| observed.odd(job).is_none());
    let fails = intent.strip_prefix("post-")?.parse::<u32>().ok()? % 5 == 3;
    let genuine = rng.choice(sound.collect::<Vec<_>>()).filter(|_| !fails && rng.u8(..3) == 0);
    let forged = format!("job_{TITLE}_{intent}_{}", rng.u32(..MAX_FORGED_JOBS));
    let job = genuine.cloned().unwrap_or(forged);
    if !observed.taken.contains_key(&job) {
        observed.forgeries.jobs.insert(job.clone(), intent.to_owned());
    }
    Some(job)
}

/// Who draws what is forged: not in a run without URLs.
pub(crate) fn forger(seed: u64, urls: Urls) -> Option<fastrand::Rng> {
    (urls == Urls::Capability).then(|| fastrand::Rng::with_seed(seed.rotate_left(32)))
}
