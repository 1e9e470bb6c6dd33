use std::sync::Arc;

use super::target::Target;

/// A brand: articles are ordered for it, and delivered to its targets.
#[derive(Debug)]
pub(crate) struct Brand {
    pub(crate) id: String,
    pub(crate) is_configured: bool,
    pub(crate) has_ga4: bool,
    pub(crate) targets: Vec<Arc<Target>>,
}

impl Brand {
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), is_configured: false, has_ga4: false, targets: Vec::new() }
    }
}
