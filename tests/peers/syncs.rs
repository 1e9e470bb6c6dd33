//! That Effectum, as it is set up here, syncs with each commit.

use std::{env, process::Command};

use crate::{effectum, scratch};

/// The argument that makes this program the one that is traced.
pub(crate) const CHILD: &str = "--syncs-child";

const JOBS: usize = 100;

/// Panics if a job was stored without a sync.
pub(crate) fn check() {
    let folder = scratch::folder();
    let calls = folder.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=fdatasync,fsync", "-o"]).arg(&calls);
    match strace.arg(env::current_exe().unwrap()).arg(CHILD).output() {
        Ok(child) if child.status.success() => {}
        Ok(child) => {
            let stderr = String::from_utf8_lossy(&child.stderr);
            return eprintln!("syncs are not counted: strace may not trace here: {stderr}");
        }
        Err(error) => return eprintln!("syncs are not counted: no strace: {error}"),
    }
    let calls = std::fs::read_to_string(calls).unwrap();
    let syncs = calls.lines().filter(|call| call.contains("sync(")).count();
    assert!(syncs >= JOBS, "{JOBS} jobs, one after the other, were stored with {syncs} syncs");
    println!("Effectum: {JOBS} jobs, one after the other: {syncs} syncs");
}

/// Stores jobs one after the other.
pub(crate) fn child() {
    let folder = scratch::folder();
    crate::runtime().block_on(async {
        let queue = effectum::open(folder.path()).await;
        for _ in 0..JOBS {
            effectum::add(&queue, b"{}").await;
        }
    });
}
