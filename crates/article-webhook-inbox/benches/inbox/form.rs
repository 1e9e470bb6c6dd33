use std::{process::ExitCode, time::Duration};

/// How much time the benchmark may take. The long form (`-- --long`) is for figures that are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Short,
    Long,
}

impl Form {
    pub(crate) fn of(arguments: &[String]) -> Self {
        if arguments.iter().any(|argument| argument == "--long") { Self::Long } else { Self::Short }
    }

    /// How the benchmark ends. In the long form, which makes the figures that are published, a missed target is a failure. The
    /// short form is for a machine that may be busy elsewhere.
    #[allow(dead_code)] // not every benchmark ends so
    pub(crate) fn ending(self) -> ExitCode {
        match self == Self::Long && crate::table::is_missed() {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        }
    }

    /// How often the contenders take turns.
    pub(crate) fn rounds(self) -> usize {
        match self {
            Self::Short => 5,
            Self::Long => 15,
        }
    }

    /// How long each turn lasts: long enough for several checkpoints, so that each contender is measured with its own.
    pub(crate) fn turn(self) -> Duration {
        match self {
            Self::Short => Duration::from_millis(1500),
            Self::Long => Duration::from_secs(3),
        }
    }
}

/// The median.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
