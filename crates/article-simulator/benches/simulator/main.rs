//! What the simulator can do: a million jobs with their retries in one process, and deliveries over sockets to a
//! receiver in another. Both fail below what they are to show.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // the figures are what it is for

mod deliveries;
mod million;

use std::{env, fs, time::Duration};

use rustix::time::{ClockId, clock_gettime};

#[tokio::main]
async fn main() {
    if env::args().any(|argument| argument == deliveries::RECEIVER) {
        return deliveries::receive().await;
    }
    million::run().await;
    deliveries::run().await;
}

/// What this process has worked so far. On a busy machine, much less than it took.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// The most memory that this process ever held, in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes / 1024)
}
