//! A process of the tool that a test ends, also when it fails.

use std::{
    fs,
    io::{BufRead, BufReader, Lines, Read},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) use crate::TIMEOUT;

pub(crate) struct Running {
    pub(crate) process: Child,
    /// What it prints, if that is a pipe.
    pub(crate) lines: Option<Lines<BufReader<ChildStdout>>>,
}

impl Running {
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut process = command.spawn().unwrap();
        let lines = process.stdout.take().map(|output| BufReader::new(output).lines());
        Self { process, lines }
    }

    /// Starts a command that runs until it is ended. Returns its first line.
    pub(crate) fn start(command: &mut Command) -> (Self, Value) {
        Self::start_with(command, Stdio::null())
    }

    pub(crate) fn start_with(command: &mut Command, errors: impl Into<Stdio>) -> (Self, Value) {
        let mut running = Self::of(command.stdout(Stdio::piped()).stderr(errors));
        let first = running.next();
        (running, first)
    }

    /// The next line of what it prints.
    pub(crate) fn line(&mut self) -> String {
        self.lines.as_mut().unwrap().next().unwrap().unwrap()
    }

    pub(crate) fn next(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// As Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Waits until it does something of its own at Ctrl-C.
    pub(crate) fn until_it_handles_ctrl_c(&self) {
        until("it does not handle Ctrl-C", || {
            let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
            (caught & 0b10 != 0).then_some(())
        });
    }

    /// The exit code, once it has ended.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        until("it does not end", || self.process.try_wait().unwrap()).code()
    }

    /// The same, and the rest of its standard error.
    pub(crate) fn ended_with_error(&mut self) -> (Option<i32>, String) {
        let exit = self.ended();
        let mut error = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        (exit, error)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What is found at some time. It fails with `what` if that lasts too long.
pub(crate) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}
