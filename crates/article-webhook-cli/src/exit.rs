use std::process::ExitCode;

use serde::Serialize;

/// How a command ended. These numbers are documented in the help and in the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    NothingMatched = 3,
    Refused = 4,
    Store = 5,
}

/// What `--help` says about them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  failed, was interrupted, or found something wrong
  2  the command line or a setting is wrong
  3  nothing matched
  4  the service refused
  5  the inbox cannot be used";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
