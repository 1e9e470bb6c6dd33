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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_identifies_its_job_and_no_other_text_does() {
        let ids = JobIds::new(7);
        for job in [0, 1, 999_999] {
            assert_eq!(ids.job(&ids.id(job)), Some(job));
        }
        let first = ids.id(0);
        for other in [
            "",
            "job_1",
            &first.replace("_1", "_01"),
            &first.replace("_1", "_0"),
            &first.replace("_1", "_+1"),
            &first.to_uppercase(),
            &JobIds::new(8).id(0),
        ] {
            assert_eq!(ids.job(other), None, "{other}");
        }
    }
}
