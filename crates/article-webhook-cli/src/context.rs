use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{failure::Failure, output::Output, settings::Environment};

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

/// What Ctrl-C means now: what may have been done already, and what to do then. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interruption(Arc<Mutex<Option<Meaning>>>);

#[derive(Debug, Clone)]
struct Meaning {
    what: String,
    fix: String,
}

impl Interruption {
    /// From now on it means this.
    pub(crate) fn means(&self, what: impl Into<String>, fix: impl Into<String>) {
        *self.meaning() = Some(Meaning { what: what.into(), fix: fix.into() });
    }

    /// From now on it means nothing more than that the command was interrupted.
    pub(crate) fn means_nothing_more(&self) {
        self.meaning().take();
    }

    pub(crate) fn failure(&self) -> Failure {
        match self.meaning().clone() {
            None => Failure::failed("interrupted").fix("repeat the command"),
            Some(Meaning { what, fix }) => Failure::failed(format!("interrupted: {what}")).fix(fix),
        }
    }

    fn meaning(&self) -> MutexGuard<'_, Option<Meaning>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
