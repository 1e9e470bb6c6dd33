use std::fs;

/// The memory of this process in MiB, if the system reports it.
pub(crate) fn resident() -> f64 {
    mebibytes("VmRSS:")
}

/// A line of the process's status, in MiB.
pub(crate) fn mebibytes(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kibibytes.unwrap_or(0.0) / 1024.0
}
