use std::path::Path;

use crate::{failure::Failure, output::Output, settings::Environment};

/// What every command has.
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) environment: Environment,
}

impl Context {
    pub(crate) fn new(output: Output, env_file: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self { output, environment: Environment::new(env_file)? })
    }
}
