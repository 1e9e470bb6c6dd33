//! How long a bench may take.

use std::{env, time::Duration};

/// The short form is for every day, the long form (`-- --long`) for figures that are published.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Short,
    Long,
}

impl Form {
    pub(crate) fn from_args() -> Self {
        if env::args().any(|arg| arg == "--long") { Self::Long } else { Self::Short }
    }

    /// For one line of a table.
    #[allow(dead_code)] // not every bench counts in seconds
    pub(crate) fn time(self) -> Duration {
        match self {
            Self::Short => Duration::from_secs(2),
            Self::Long => Duration::from_secs(15),
        }
    }
}
