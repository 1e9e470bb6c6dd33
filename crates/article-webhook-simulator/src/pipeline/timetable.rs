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
