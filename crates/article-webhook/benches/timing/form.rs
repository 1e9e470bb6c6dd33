use std::env;

/// The short form is part of `.ci/run`, the long form (`-- --long`) makes the figures that are published.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Short,
    Long,
}

impl Form {
    pub(crate) fn from_args() -> Self {
        if env::args().any(|arg| arg == "--long") { Self::Long } else { Self::Short }
    }
}
