use std::collections::HashSet;

use article_webhook_inbox::store::Arrival;
use tokio_postgres::{Row, types::Type};

use crate::{connection::Parameter, fault::Fault};

/// What a batch of arrivals may add, by columns: the first arrival of each key.
pub(crate) struct Batch<'a> {
    /// The numbers of the arrivals.
    arrivals: Vec<usize>,
    job_ids: Vec<&'a str>,
    events: Vec<&'a str>,
    sources: Vec<&'a str>,
    targets: Vec<&'a str>,
    intents: Vec<Option<&'a str>>,
    digests: Vec<&'a [u8]>,
    bodies: Vec<&'a [u8]>,
}

impl<'a> Batch<'a> {
    /// The rows for arrivals in this order.
    pub(crate) fn of(arrivals: &'a [Arrival], order: &[usize]) -> Self {
        let mut seen = HashSet::new();
        let firsts = order.iter().copied().filter(|index| seen.insert(&arrivals[*index].key));
        let firsts: Vec<usize> = firsts.collect();
        let all = || firsts.iter().map(|index| &arrivals[*index]);
        Self {
            job_ids: all().map(|arrival| arrival.key.job_id.as_str()).collect(),
            events: all().map(|arrival| arrival.key.event.as_str()).collect(),
            sources: all().map(|arrival| arrival.source.as_str()).collect(),
            targets: all().map(|arrival| &*arrival.target).collect(),
            intents: all().map(|arrival| arrival.intent.as_deref()).collect(),
            digests: all().map(|arrival| &arrival.digest.as_bytes()[..]).collect(),
            bodies: all().map(|arrival| &*arrival.bytes).collect(),
            arrivals: firsts,
        }
    }

    /// The parameters of a statement that adds them. The first is the time of a test's clock.
    pub(crate) fn parameters<'b>(&'b self, now: &'b Option<i64>) -> [Parameter<'b>; 8] {
        [
            (now as _, Type::INT8),
            (&self.job_ids as _, Type::TEXT_ARRAY),
            (&self.events as _, Type::TEXT_ARRAY),
            (&self.sources as _, Type::TEXT_ARRAY),
            (&self.targets as _, Type::TEXT_ARRAY),
            (&self.intents as _, Type::TEXT_ARRAY),
            (&self.digests as _, Type::BYTEA_ARRAY),
            (&self.bodies as _, Type::BYTEA_ARRAY),
        ]
    }

    /// The arrivals whose rows were added, of whose places in the columns the statement has returned the numbers.
    pub(crate) fn added(&self, places: &[Row]) -> Result<HashSet<usize>, Fault> {
        let mut added = HashSet::new();
        for row in places {
            let place = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
            added.extend(place.checked_sub(1).and_then(|place| self.arrivals.get(place)));
        }
        Ok(added)
    }
}
