//! Where in the life of a delivery a receiver is to be killed: at the entry of a system call, before it is executed.

use std::path::Path;

use fastrand::Rng;

use crate::{
    role::{self, Role},
    runs,
    strace::{self, Strace},
    trace::{self, Call},
};

/// The names of all points, in the order of a delivery's life.
pub(crate) const POINTS: [&str; 9] = [
    "before the insert",
    "in the insert, before the commit",
    "at the sync of the commit",
    "after the commit, before the answer",
    "after the answer",
    "claimed, before the handler",
    "in the handler",
    "before it is complete",
    "after it is complete",
];

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

    /// Which point that was, by what the trace shows before the call in which the receiver died.
    pub(crate) fn point(&self, trace: &Path) -> &'static str {
        let calls = trace::read(trace);
        let is_fatal = |call: &Call| strace::lists(self.call, &call.name) && call.end.is_none();
        let Some(last) = calls.iter().rposition(is_fatal) else {
            return "unknown";
        };
        let fatal = &calls[last];
        let before = &calls[..last];
        match fatal.name.as_str() {
            "write" if fatal.text().starts_with(b"began") => "claimed, before the handler",
            "write" => "in the handler",
            send if strace::lists(strace::SENDS, send) => "after the commit, before the answer",
            "epoll_wait" => {
                let previous = before.iter().rfind(|call| call.thread == fatal.thread);
                if previous.is_some_and(|call| call.peer().is_some()) {
                    "after the answer"
                } else {
                    "while it waits"
                }
            }
            _ if fatal
                .file()
                .is_none_or(|file| !file.ends_with(role::FILE.to_owned() + "-wal")) =>
            {
                "in a checkpoint"
            }
            _ if !self.with_deliveries => Self::point_of_work(before),
            sync if strace::lists(strace::SYNCS, sync) => "at the sync of the commit",
            _ => {
                let previous = before.iter().rfind(|call| call.thread == fatal.thread);
                let is_first = previous.is_none_or(|call| call.name != "pwrite64");
                if is_first { "before the insert" } else { "in the insert, before the commit" }
            }
        }
    }

    /// Without deliveries, the log is written to when entries are claimed and when they are complete.
    fn point_of_work(before: &[Call]) -> &'static str {
        let noted = before.iter().rposition(|call| call.text().starts_with(b"ended"));
        let Some(noted) = noted else { return "before the claim" };
        let synced = before[noted..]
            .iter()
            .any(|call| strace::lists(strace::SYNCS, &call.name) && call.end.is_some());
        if synced { "after it is complete" } else { "before it is complete" }
    }
}
