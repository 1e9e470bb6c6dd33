use crate::seeded_rng::draw;

/// The ids of jobs. They depend on the seed, so that one receiver can distinguish the jobs of two
/// simulators.
#[derive(Debug)]
pub(crate) struct JobIds {
    start: String,
}

impl JobIds {
    pub(crate) fn new(seed: u64) -> Self {
        let mark = draw(seed, &[IDS]).u32(..);
        Self { start: format!("job_{mark:08x}_") }
    }

    pub(crate) fn id(&self, job: usize) -> String {
        format!("{}{}", self.start, job + 1)
    }

    pub(crate) fn job(&self, id: &str) -> Option<usize> {
        let job = id.strip_prefix(&self.start)?.parse::<usize>().ok()?.checked_sub(1)?;
        (self.id(job) == id).then_some(job)
    }
}

/// Separates these draws from others of the same seed.
const IDS: u64 = 2;
