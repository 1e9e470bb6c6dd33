//! What the environment, named files and standard input say.

pub(crate) mod input;

mod environment;

pub(crate) mod token;

pub(crate) use environment::Environment;
