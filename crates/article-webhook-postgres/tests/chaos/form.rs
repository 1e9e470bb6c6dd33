use std::env;

/// The short form is for every day, the long form (`-- --long`) for figures that are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Short,
    Long,
}

impl Form {
    pub(crate) fn from_arguments() -> Self {
        if env::args().any(|argument| argument == "--long") { Self::Long } else { Self::Short }
    }

    pub(crate) fn choose<T>(self, short: T, long: T) -> T {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }
}
