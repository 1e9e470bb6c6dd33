//! A process of the tool that a test ends, also when it fails.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Starts a command that runs until it is ended. Returns its first line.
    pub(crate) fn start(command: &mut Command) -> (Self, Value) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        (Self(child), serde_json::from_str(&line).unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
