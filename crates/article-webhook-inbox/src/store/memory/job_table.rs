use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::SystemTime,
};

use article_webhook::JobId;

use crate::rules::{AskLane, JobRow};

/// The jobs of the ledger, with indexes, so that a claim of asks costs the same for any number of jobs.
#[derive(Default)]
pub(super) struct JobTable {
    jobs: BTreeMap<i64, (JobId, JobRow)>,
    ids: HashMap<JobId, i64>,
    /// The open jobs, by lane and time.
    open: BTreeSet<(AskLane, SystemTime, i64)>,
    /// The jobs that ended, by time.
    ended: BTreeSet<(SystemTime, i64)>,
}

impl JobTable {
    pub(super) fn id(&self, job_id: &JobId) -> Option<i64> {
        self.ids.get(job_id).copied()
    }

    pub(super) fn get(&self, id: i64) -> Option<&(JobId, JobRow)> {
        self.jobs.get(&id)
    }

    /// All jobs, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, &JobId, &JobRow)> {
        self.jobs.iter().map(|(id, (job_id, row))| (*id, job_id, row))
    }

    /// Adds a job, which must not be there.
    pub(super) fn add(&mut self, id: i64, job_id: JobId, row: JobRow) {
        self.enter(id, &row);
        self.ids.insert(job_id.clone(), id);
        self.jobs.insert(id, (job_id, row));
    }

    /// Changes a job, which moves in the indexes. `None` if it is not there.
    pub(super) fn change<T>(
        &mut self,
        id: i64,
        change: impl FnOnce(&mut JobRow) -> T,
    ) -> Option<T> {
        let (job_id, mut row) = self.jobs.remove(&id)?;
        self.leave(id, &row);
        let changed = change(&mut row);
        self.enter(id, &row);
        self.jobs.insert(id, (job_id, row));
        Some(changed)
    }

    pub(super) fn remove(&mut self, id: i64) -> Option<JobRow> {
        let (job_id, row) = self.jobs.remove(&id)?;
        self.leave(id, &row);
        self.ids.remove(&job_id);
        Some(row)
    }

    /// The open jobs of a lane, with the time that each is due.
    pub(super) fn lane(&self, lane: AskLane) -> impl Iterator<Item = (SystemTime, i64)> {
        let first = (lane, SystemTime::UNIX_EPOCH, i64::MIN);
        let lane = self.open.range(first..).take_while(move |(of, ..)| *of == lane);
        lane.map(|(_, at, id)| (*at, *id))
    }

    /// The jobs that ended, the oldest first.
    pub(super) fn ended(&self) -> impl Iterator<Item = i64> {
        self.ended.iter().map(|(_, id)| *id)
    }

    fn enter(&mut self, id: i64, row: &JobRow) {
        if row.state.is_open() {
            self.open.insert((row.lane(), row.at, id));
        } else {
            self.ended.insert((row.at, id));
        }
    }

    fn leave(&mut self, id: i64, row: &JobRow) {
        if row.state.is_open() {
            self.open.remove(&(row.lane(), row.at, id));
        } else {
            self.ended.remove(&(row.at, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::{
        Clock, MemoryStore,
        call::{AskClaim, AskOutcome, BucketSettings, Expect},
        store::{Ledger, Store},
    };

    const HOUR: Duration = Duration::from_secs(3600);

    /// How long a claim of one job takes at best, in a ledger with that many jobs that wait.
    async fn claim(waiting: u32) -> Duration {
        let store = MemoryStore::new(Clock::stepped(Clock::system().now()));
        let at = store.now() + HOUR;
        let wait = (0..waiting).map(|job| Expect::job(format!("job_{job}").parse().unwrap(), at));
        store.expect(wait.collect()).await.unwrap();
        store.expect(vec![Expect::job("job_due".parse().unwrap(), store.now())]).await.unwrap();
        let bucket = BucketSettings { per_minute: 1, burst: 200, key: 1 };
        let mut best = Duration::MAX;
        for _ in 0..200 {
            let claim = AskClaim { limit: 1, lease: HOUR, bucket };
            let began = Instant::now();
            let ask = store.claim_asks(claim).await.unwrap().asks.remove(0);
            best = best.min(began.elapsed());
            store.settle_ask(ask.lease, AskOutcome::Released, 1).await.unwrap();
        }
        best
    }

    /// To look at each of 20,000 jobs takes a thousand times as long as to look at each of 20.
    #[tokio::test]
    async fn a_claim_of_asks_does_not_look_at_jobs_that_wait() {
        let (few, many) = (claim(20).await, claim(20_000).await);
        assert!(many < few * 20, "{few:?} and {many:?}");
    }
}
