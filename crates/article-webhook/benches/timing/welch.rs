//! Welch's t-test on two classes of times, over everything and over ever more of the fastest.

/// A sample of more ticks was interrupted, and counts as this number.
const LONGEST: usize = 1 << 14;

/// A crop with fewer times of a class is no evidence.
const FEWEST: f64 = 1000.0;

/// Times of both classes, as a count for each number of ticks.
pub(crate) struct Times([Vec<u32>; 2]);

impl Times {
    pub(crate) fn new() -> Self {
        Self([(); 2].map(|()| vec![0; LONGEST + 1]))
    }

    pub(crate) fn add(&mut self, class: usize, ticks: u64) {
        let ticks = usize::try_from(ticks).unwrap_or(LONGEST);
        self.0[class][ticks.min(LONGEST)] += 1;
    }

    /// The greatest |t| of all crops. Interruptions blur the mean of all samples, but not that of the
    /// fastest part. The best size of that part is not known beforehand.
    pub(crate) fn t(&self) -> f64 {
        self.crops().map(|most| t(self.moments(most))).fold(0.0, f64::max)
    }

    /// The ticks below which lie 7 %, 13 %, 19 % … 99.9 % of all times, whatever their class, as
    /// dudect has them; and no crop at all.
    fn crops(&self) -> impl Iterator<Item = usize> {
        let [a, b] = &self.0;
        let below: Vec<_> = a.iter().zip(b).map(|(a, b)| f64::from(a + b)).scan(0.0, sum).collect();
        let all = below[LONGEST];
        let shares = (1..=100).map(|crop| 1.0 - 0.5_f64.powf(f64::from(crop) / 10.0));
        let mut crops: Vec<_> =
            shares.map(|share| below.partition_point(|&count| count < share * all)).collect();
        crops.dedup();
        crops.into_iter().chain([LONGEST])
    }

    fn moments(&self, most: usize) -> [Moments; 2] {
        [0, 1].map(|class| Moments::of(&self.0[class][..=most]))
    }
}

fn sum(total: &mut f64, count: f64) -> Option<f64> {
    *total += count;
    Some(*total)
}

struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(counts: &[u32]) -> Self {
        let times = || (0_u32..).zip(counts).map(|(ticks, &n)| (f64::from(ticks), f64::from(n)));
        let count: f64 = times().map(|(_, n)| n).sum();
        let mean = times().map(|(ticks, n)| ticks * n).sum::<f64>() / count;
        let squares: f64 = times().map(|(ticks, n)| (ticks - mean).powi(2) * n).sum();
        Self { count, mean, variance: squares / (count - 1.0) }
    }
}

fn t([a, b]: [Moments; 2]) -> f64 {
    if a.count.min(b.count) < FEWEST {
        return 0.0;
    }
    let error = (a.variance / a.count + b.variance / b.count).sqrt();
    let difference = (a.mean - b.mean).abs();
    // Where all times are equal, there is no difference and no error.
    if difference == 0.0 { 0.0 } else { difference / error }
}
