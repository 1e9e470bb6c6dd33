//! Where in the life of a delivery a receiver is to be killed: at the entry of a system call, before it is executed.

use std::path::Path;

use fastrand::Rng;

use crate::{
    role::Role,
    runs,
    strace::{self, Strace},
};

#[derive(Debug)]
pub(crate) struct Aim {
    pub(crate) role: Role,
    /// Whether the service delivers meanwhile. Without, only a worker is at work.
    pub(crate) with_deliveries: bool,
    call: &'static str,
    /// Only calls on this file.
    file: Option<&'static str>,
    when: u32,
}

impl Aim {
    /// One kind of call after the other, and of each kind any.
    pub(crate) fn at(round: usize, rng: &mut Rng) -> Self {
        let aims = [
            (Role::Receiver, true, "pwrite64", None, 200),
            (Role::Receiver, true, strace::SYNCS, None, 30),
            (Role::Receiver, true, strace::SENDS, None, 30),
            (Role::Receiver, true, "epoll_wait", None, 60),
            (Role::Inbox, false, "write", Some(runs::FILE), 12),
            (Role::Inbox, true, "write", Some(runs::FILE), 40),
            (Role::Inbox, false, "pwrite64", None, 60),
            (Role::Inbox, false, strace::SYNCS, None, 12),
            (Role::Inbox, true, "pwrite64", None, 300),
            (Role::Inbox, true, strace::SYNCS, None, 60),
        ];
        let (role, with_deliveries, call, file, most) = aims[round % aims.len()];
        Self { role, with_deliveries, call, file, when: rng.u32(1..=most) }
    }

    pub(crate) fn strace(&self, folder: &Path, trace: &Path) -> Strace {
        let calls = format!("pwrite64,write,epoll_wait,{},{}", strace::SYNCS, strace::SENDS);
        let strace = Strace::glancing(&calls, trace)
            .injecting(&format!("{}:signal=KILL:when={}", self.call, self.when));
        match self.file {
            Some(file) => strace.on_file(&folder.join(file)),
            None => strace,
        }
    }
}
