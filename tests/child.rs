//! A server as a process of its own, which is the same program with another argument. For `unfinished`, and the crowd of the server.

#![allow(dead_code)] // each measures something else

use std::{
    env, fs,
    io::{self, BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    process::{self, Child, Command, Stdio},
    thread,
    time::Duration,
};

/// Ends this process with its standard input, so that no server outlives the program that started it.
pub(crate) fn end_with_the_parent() {
    thread::spawn(|| {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(0);
    });
}

pub(crate) struct ServerProcess {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Starts this program with `argument`. It prints the port on which it listens.
    pub(crate) fn start(argument: &str) -> Self {
        let program = env::current_exe().expect("this program has a path");
        let mut process = Command::new(program)
            .arg(argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs");
        let output = process.stdout.as_mut().expect("it is piped");
        let mut port = String::new();
        let read = BufReader::new(output).read_line(&mut port);
        read.expect("the server prints its port");
        let port = port.trim().parse().expect("a port is a number");
        Self { process, address: (Ipv4Addr::LOCALHOST, port).into() }
    }

    /// The resident memory of the process, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The largest resident memory that the process ever had, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.expect("the server runs, on Linux");
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let amount = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: u64 = amount.expect("the status has it").parse().expect("it is a number");
        kib << 10
    }

    /// How many files the process has open.
    pub(crate) fn descriptors(&self) -> u64 {
        let folder = fs::read_dir(format!("/proc/{}/fd", self.process.id()));
        folder.expect("the server runs, on Linux").count() as u64
    }

    /// The processor time of all threads of the server, in user mode and in the kernel.
    pub(crate) fn processor_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id()));
        let time = |task: fs::DirEntry| {
            let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some(Duration::from_nanos(stat.split(' ').next()?.parse().ok()?))
        };
        tasks.expect("the server runs, on Linux").flatten().filter_map(time).sum()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}
