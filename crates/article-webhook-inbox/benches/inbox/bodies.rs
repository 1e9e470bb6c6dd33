use article_webhook::{JobId, fixture};
use article_webhook_inbox::{Digest, EntryKey, Source, store::Arrival};
use bytes::Bytes;

/// How many distinct bodies take turns.
const BODIES: u64 = 64;

/// The deliveries: distinct articles, each for another job.
#[derive(Clone)]
pub(crate) struct Bodies(Vec<(Bytes, Digest)>);

impl Bodies {
    /// Articles of about that many bytes. Their digests are made here, because they are not measured.
    pub(crate) fn new(bytes: usize) -> Self {
        let body = |seed| {
            let body = fixture::generated(seed, bytes).bytes().clone();
            (body.clone(), Digest::of(&body))
        };
        Self((0..BODIES).map(body).collect())
    }

    /// An arrival for a new job. Ids have no order, like those of the service, so that an index of them is written in many
    /// places.
    pub(crate) fn arrival(&self, random: &mut fastrand::Rng) -> Arrival {
        let (bytes, digest) = self.0[random.usize(..self.0.len())].clone();
        arrival_of(job_id(random), bytes, digest)
    }
}

/// An arrival whose body names its job, as a worker requires. It takes longer to make.
pub(crate) fn workable(bytes: usize, random: &mut fastrand::Rng) -> Arrival {
    let job_id = job_id(random);
    let request = fixture::generated(random.u64(..BODIES), bytes).job_id(job_id.as_str());
    let body = request.bytes().clone();
    let digest = Digest::of(&body);
    arrival_of(job_id, body, digest)
}

fn arrival_of(job_id: JobId, bytes: Bytes, digest: Digest) -> Arrival {
    Arrival {
        key: EntryKey::article(job_id),
        source: Source::Webhook,
        target: "blog".into(),
        intent: None,
        digest,
        bytes,
    }
}

/// A new job.
pub(crate) fn job_id(random: &mut fastrand::Rng) -> JobId {
    format!("job_{:015x}", random.u64(..1 << 60)).parse().unwrap()
}
