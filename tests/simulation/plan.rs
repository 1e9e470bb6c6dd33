use std::time::Duration;

/// What is drawn once for a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) nodes: usize,
    pub(crate) per_minute: u32,
    pub(crate) burst: u32,
    pub(crate) urls: Urls,
    pub(crate) key: Key,
    /// How long things go wrong.
    pub(crate) span: Duration,
    /// How many intents are ordered.
    pub(crate) intents: u32,
}

/// Whether the key of another environment is used for some days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Same,
    Another,
}

/// An account of the service. Each knows its own jobs alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    Ours,
    /// That of another environment, whose key is used by mistake for some days.
    Other,
}

impl Account {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Ours => "sk-5f2b9c0e7a1d4e38",
            Self::Other => "sk-0a9e64d1b37c8f25",
        }
    }

    pub(crate) fn fingerprint(self) -> u64 {
        match self {
            Self::Ours => 17,
            Self::Other => 18,
        }
    }
}

/// Whether orders carry capability URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urls {
    Capability,
    PublishTarget,
}
