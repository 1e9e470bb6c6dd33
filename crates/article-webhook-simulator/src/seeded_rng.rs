use fastrand::Rng;

/// A source of random numbers for one subject, such as the second attempt at one delivery.
///
/// Each subject has a source of its own, made from the seed and `about`. So a run does not change when two of its
/// deliveries change their order.
pub(crate) fn draw(seed: u64, about: &[u64]) -> Rng {
    let mix = |state: u64, part: &u64| {
        // The finaliser of SplitMix64: jobs with similar numbers must not get similar draws.
        let state = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    };
    Rng::with_seed(about.iter().fold(mix(seed, &0), mix))
}
