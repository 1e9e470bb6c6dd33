//! A receiver as a process of its own: this program once more.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{self, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{role::Role, strace::Strace};

pub(crate) struct Child {
    /// The receiver, or the strace around it.
    process: process::Child,
    /// The receiver.
    pid: Pid,
    pub(crate) address: SocketAddr,
}

impl Child {
    /// Starts a receiver on the files in this folder. The error is its standard error, if it ended before it served.
    pub(crate) fn start(
        folder: &Path,
        role: Role,
        strace: Option<&Strace>,
    ) -> Result<Self, String> {
        let program = env::current_exe().expect("this program has a path");
        let mut command =
            strace.map_or_else(|| Command::new(&program), |strace| strace.command(&program));
        let stderr = folder.join("stderr");
        let mut process = command
            .arg(role.argument())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&stderr).expect("the folder can be written to"))
            .spawn()
            .expect("this program runs");
        let mut line = String::new();
        let output = process.stdout.as_mut().expect("it is piped");
        _ = BufReader::new(output).read_line(&mut line);
        let numbers = line.trim().split_once(' ').and_then(|(pid, port)| {
            Some((Pid::from_raw(pid.parse().ok()?)?, port.parse::<u16>().ok()?))
        });
        let Some((pid, port)) = numbers else {
            drop(process.stdin.take());
            let status = process.wait().expect("it is a child of this process");
            let mut why = String::new();
            _ = fs::File::open(&stderr).and_then(|mut stderr| stderr.read_to_string(&mut why));
            return Err(format!("{status}: {}", why.trim()));
        };
        Ok(Self { process, pid, address: (Ipv4Addr::LOCALHOST, port).into() })
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// The same, where it is still needed.
    pub(crate) fn end(&mut self) {
        // It may have died by itself; strace follows it.
        if !self.has_ended() {
            _ = kill_process(self.pid, Signal::KILL);
            _ = self.process.wait();
        }
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) -> ExitStatus {
        drop(self.process.stdin.take());
        self.process.wait().expect("it is a child of this process")
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.try_wait().expect("it is a child of this process").is_some()
    }

    /// Whether it ended within that time.
    pub(crate) fn ends_within(&mut self, timeout: Duration) -> bool {
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > timeout {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}
