use std::{ops::RangeInclusive, time::Duration};

use super::step::Step;
use crate::seeded_rng::draw;

/// When a job that was ordered at time zero leaves the queue, and when it finishes each step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Timetable([Duration; 7]);

impl Timetable {
    pub(crate) fn draw(seed: u64, job: u64, whole: &RangeInclusive<Duration>) -> Self {
        let mut rng = draw(seed, &[TIMETABLE, job]);
        let spread = whole.end().saturating_sub(*whole.start());
        let whole = *whole.start() + spread.mul_f64(rng.f64());
        let shares: [f64; 7] = std::array::from_fn(|_| 0.2 + rng.f64());
        let sum: f64 = shares.iter().sum();
        let mut ends = shares.iter().scan(0.0, |until, share| {
            *until += share;
            Some(whole.mul_f64(*until / sum))
        });
        let mut ends: [Duration; 7] = std::array::from_fn(|_| ends.next().unwrap_or(whole));
        ends[6] = whole; // exactly, in spite of rounding
        Self(ends)
    }

    pub(crate) fn end_of(&self, step: Step) -> Duration {
        self.0[1 + step as usize]
    }

    pub(crate) fn end(&self) -> Duration {
        self.0[6]
    }

    /// The step at this time: `None` in the queue, and the last step after the end.
    pub(crate) fn step_at(&self, since_order: Duration) -> Option<Step> {
        if since_order < self.0[0] {
            return None;
        }
        let step = Step::ALL.iter().copied().find(|&step| since_order < self.end_of(step));
        Some(step.unwrap_or(Step::Social))
    }
}

/// Separates these draws from others about the same job.
const TIMETABLE: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_timetable_depends_on_the_seed_and_on_the_job() {
        let draw = |seed, job| Timetable::draw(seed, job, &(30 * SECOND..=180 * SECOND));
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
    }

    #[test]
    fn steps_follow_each_other_within_the_set_time() {
        for job in 0..1000 {
            let timetable = Timetable::draw(7, job, &(30 * SECOND..=180 * SECOND));
            assert!(timetable.0.is_sorted(), "{timetable:?}");
            assert!((30 * SECOND..=180 * SECOND).contains(&timetable.end()));
            assert_eq!(timetable.step_at(Duration::ZERO), None);
            for &step in Step::ALL {
                let end = timetable.end_of(step);
                assert_eq!(timetable.step_at(end - Duration::from_nanos(1)), Some(step));
            }
            assert_eq!(timetable.step_at(timetable.end()), Some(Step::Social));
        }
    }
}
