use crate::{
    pair::{Difference, Pair},
    step::Step,
};

/// The same difference, or another one, with as few steps as possible: no step can be left out. `None` if new stores show
/// no difference.
pub(crate) async fn shrunk(steps: &[Step]) -> Option<(Vec<Step>, Difference)> {
    let mut difference = difference(steps).await?;
    let mut steps = steps[..difference.steps].to_vec();
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        match self::difference(&fewer).await {
            // A step that was needed before may not be needed now.
            Some(found) => (steps, difference, at) = (fewer, found, 0),
            None => at += 1,
        }
    }
    Some((steps, difference))
}

async fn difference(steps: &[Step]) -> Option<Difference> {
    Pair::fresh().run(steps).await.err()
}
