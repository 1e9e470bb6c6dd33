//! That the queues, as they are set up here, sync with each commit.

use std::{env, process::Command};

use crate::{apalis, effectum, scratch};

/// The argument that makes this program the one that is traced. The name of a peer follows.
pub(crate) const CHILD: &str = "--syncs-child";

const JOBS: usize = 100;

/// Panics if a job was stored without a sync.
pub(crate) fn check() {
    for peer in ["Effectum", "apalis-sqlite"] {
        let folder = scratch::folder();
        let calls = folder.path().join("calls");
        let mut strace = Command::new("strace");
        strace
            .args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=fdatasync,fsync", "-o"])
            .arg(&calls);
        match strace.arg(env::current_exe().unwrap()).args([CHILD, peer]).output() {
            Ok(child) if child.status.success() => {}
            Ok(child) => {
                let stderr = String::from_utf8_lossy(&child.stderr);
                return eprintln!(
                    "{peer}: syncs are not counted: strace may not trace here: {stderr}"
                );
            }
            Err(error) => return eprintln!("{peer}: syncs are not counted: no strace: {error}"),
        }
        let calls = std::fs::read_to_string(calls).unwrap();
        let syncs = calls.lines().filter(|call| call.contains("sync(")).count();
        assert!(
            syncs >= JOBS,
            "{peer} stored {JOBS} jobs, one after the other, with {syncs} syncs"
        );
        println!("{peer}: {JOBS} jobs, one after the other: {syncs} syncs");
    }
}

/// Stores jobs one after the other.
pub(crate) fn child(peer: &str) {
    let folder = scratch::folder();
    crate::runtime().block_on(async {
        if peer == "Effectum" {
            let queue = effectum::open(folder.path()).await;
            for _ in 0..JOBS {
                effectum::add(&queue, b"{}").await;
            }
        } else {
            let mut jobs = apalis::open(folder.path()).await;
            for _ in 0..JOBS {
                apalis::add(&mut jobs, b"{}").await;
            }
        }
    });
}
