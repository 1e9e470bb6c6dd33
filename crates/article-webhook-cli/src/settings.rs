//! What the environment and named files say.

mod environment;

pub(crate) mod token;

pub(crate) use environment::Environment;
