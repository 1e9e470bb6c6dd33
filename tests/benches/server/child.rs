//! A server as a process of its own.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::role::Role;

pub(crate) struct Server {
    process: Child,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn start(role: Role) -> Self {
        let program = env::current_exe().expect("this program has a path");
        let mut process = Command::new(program)
            .arg(role.arg())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs");
        let output = process.stdout.as_mut().expect("it is piped");
        let mut port = String::new();
        let read = BufReader::new(output).read_line(&mut port);
        read.expect("the server prints its port");
        let port = port.trim().parse().expect("a port is a number");
        Self { process, port }
    }

    /// The processor time that the threads of the server have used, in the kernel too.
    ///
    /// `/proc/<pid>/stat` counts in hundredths of a second, this in nanoseconds.
    pub(crate) fn processor_time(&self) -> Duration {
        let tasks = format!("/proc/{}/task", self.process.id());
        let tasks = fs::read_dir(tasks).expect("the server runs, on Linux");
        let time = |task: fs::DirEntry| {
            let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
            let nanoseconds = stat.split(' ').next()?.parse().ok()?;
            Some(Duration::from_nanos(nanoseconds))
        };
        tasks.flatten().filter_map(time).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}
