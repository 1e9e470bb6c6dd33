use std::fmt;

use serde::{Deserialize, Serialize};

/// A step of the pipeline. The document mentions steps without names (service document, section 7): these names are
/// the simulator's.
///
/// ```
/// use article_webhook_simulator::Step;
///
/// assert_eq!(Step::ALL[0], Step::Outline);
/// assert_eq!(Step::Draft.to_string(), "draft");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive] // there may be more steps
pub enum Step {
    /// The outline of the article. A job that fails here fails in the call that orders it.
    Outline,
    /// Research on the topic.
    Research,
    /// The first text.
    Draft,
    /// The final text.
    Edit,
    /// The featured image.
    Image,
    /// The social posts.
    Social,
}

impl Step {
    /// All steps, in order.
    pub const ALL: &'static [Self] =
        &[Self::Outline, Self::Research, Self::Draft, Self::Edit, Self::Image, Self::Social];
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
