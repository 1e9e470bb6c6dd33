use crate::{
    pair::{Difference, Pair},
    step::Step,
};

/// The same difference, or another, with as few steps as it takes: none of them can be left out. `None` when new
/// stores show no difference.
pub(crate) async fn shrunk(steps: &[Step]) -> Option<(Vec<Step>, Difference)> {
    let mut difference = difference(steps).await?;
    let mut steps = steps[..difference.steps].to_vec();
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        match self::difference(&fewer).await {
            // What could not be left out before may be now.
            Some(found) => (steps, difference, at) = (fewer, found, 0),
            None => at += 1,
        }
    }
    Some((steps, difference))
}

async fn difference(steps: &[Step]) -> Option<Difference> {
    Pair::fresh().run(steps).await.err()
}
