mod interruption;

use std::path::Path;

use crate::{failure::Failure, output::Output, settings::Environment};

pub(crate) use interruption::Interruption;

/// What every command has.
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) environment: Environment,
    pub(crate) interruption: Interruption,
}

impl Context {
    pub(crate) fn new(output: Output, env_file: Option<&Path>) -> Result<Self, Failure> {
        let environment = Environment::new(env_file)?;
        Ok(Self { output, environment, interruption: Interruption::default() })
    }
}
