use std::{fmt, ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Serialize};

use crate::draw::draw;

/// A step of the pipeline. The document speaks of steps and names none (section 7); these names are ours.
///
/// ```
/// use article_simulator::Step;
///
/// assert_eq!(Step::Draft.to_string(), "draft");
/// assert_eq!(Step::ALL.len(), 6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// What the article will say. A job that fails here fails in the very call that orders it.
    Outline,
    /// What is known about it.
    Research,
    /// The first text.
    Draft,
    /// The text as it will be.
    Edit,
    /// The featured image.
    Image,
    /// The social posts.
    Social,
}

impl Step {
    /// In the order they are taken.
    ///
    /// ```
    /// use article_simulator::Step;
    /// assert_eq!(Step::ALL[0], Step::Outline);
    /// ```
    pub const ALL: [Self; 6] =
        [Self::Outline, Self::Research, Self::Draft, Self::Edit, Self::Image, Self::Social];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outline => "outline",
            Self::Research => "research",
            Self::Draft => "draft",
            Self::Edit => "edit",
            Self::Image => "image",
            Self::Social => "social",
        })
    }
}

/// When a job that was ordered at zero leaves the queue, and when it is done with each of its steps.
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
        ends[6] = whole; // whatever the rounding
        Self(ends)
    }

    pub(crate) fn end_of(&self, step: Step) -> Duration {
        self.0[1 + step as usize]
    }

    pub(crate) fn end(&self) -> Duration {
        self.0[6]
    }

    /// `None` in the queue. After the end it is the last step.
    pub(crate) fn step_at(&self, since_order: Duration) -> Option<Step> {
        if since_order < self.0[0] {
            return None;
        }
        let step = Step::ALL.into_iter().find(|&step| since_order < self.end_of(step));
        Some(step.unwrap_or(Step::Social))
    }
}

/// Tells its draws from those of others about the same job.
const TIMETABLE: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn steps_follow_each_other_within_the_wished_time() {
        for job in 0..1000 {
            let timetable = Timetable::draw(7, job, &(30 * SECOND..=180 * SECOND));
            assert!(timetable.0.is_sorted(), "{timetable:?}");
            assert!((30 * SECOND..=180 * SECOND).contains(&timetable.end()));
            assert_eq!(timetable.step_at(Duration::ZERO), None);
            for step in Step::ALL {
                let end = timetable.end_of(step);
                assert_eq!(timetable.step_at(end - Duration::from_nanos(1)), Some(step));
            }
            assert_eq!(timetable.step_at(timetable.end()), Some(Step::Social));
        }
    }

    #[test]
    fn durations_come_from_the_seed() {
        let range = 30 * SECOND..=180 * SECOND;
        assert_eq!(Timetable::draw(7, 1, &range), Timetable::draw(7, 1, &range));
        assert_ne!(Timetable::draw(7, 1, &range), Timetable::draw(7, 2, &range));
        assert_ne!(Timetable::draw(7, 1, &range), Timetable::draw(8, 1, &range));
    }

    #[test]
    fn a_job_may_take_no_time_at_all() {
        let timetable = Timetable::draw(7, 1, &(Duration::ZERO..=Duration::ZERO));
        assert_eq!(timetable.end(), Duration::ZERO);
    }
}
