//! The speed of the simulator: a million jobs with their retries in one process, and deliveries over sockets to a
//! receiver in another process. Both fail below their required figures.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints figures

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

/// The processor time of this process, which on a busy machine is much less than the elapsed time.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// The peak memory of this process in MiB, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes / 1024)
}
