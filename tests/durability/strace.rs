//! strace around a child, where the machine has it and lets it.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// How a child is watched, or disturbed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strace(Vec<String>);

/// Everything that changes files, and everything that is sent.
/// Not every architecture has all of them, hence the question marks.
const CALLS: &str = "openat,?open,?creat,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,fsync,fdatasync,\
    sync_file_range,ftruncate,truncate,fallocate,copy_file_range,?unlink,unlinkat,?rename,?renameat,renameat2,\
    ?link,linkat";

/// Which of them SQLite calls depends on how it was built.
pub(crate) const SYNCS: &str = "fsync,fdatasync";

/// Which of them answers are written with is the server's business.
pub(crate) const SENDS: &str = "sendto,sendmsg,writev";

impl Strace {
    /// Writes down every call that changes a file or sends something, with all its bytes, to this file.
    pub(crate) fn recording(trace: &Path) -> Self {
        Self::watching(CALLS, 1 << 24, trace)
    }

    /// Writes down calls of these names, with the first bytes of what is written.
    pub(crate) fn glancing(calls: &str, trace: &Path) -> Self {
        Self::watching(calls, 80, trace)
    }

    fn watching(calls: &str, bytes: u32, trace: &Path) -> Self {
        let words = [
            "-qq",
            "-f",
            "-yy",
            "-xx",
            "-e",
            "signal=none",
            "-e",
            &format!("trace={calls}"),
            "-s",
            &bytes.to_string(),
            "-o",
            &trace.to_string_lossy(),
        ];
        Self(words.map(str::to_owned).into())
    }

    /// And lets some of them fail, or kill. Counted in each thread by itself.
    pub(crate) fn injecting(mut self, injection: &str) -> Self {
        self.0.extend(["-e".to_owned(), format!("inject={injection}")]);
        self
    }

    /// Only calls on this file.
    pub(crate) fn on_file(mut self, file: &Path) -> Self {
        self.0.extend(["-P".to_owned(), file.to_string_lossy().into_owned()]);
        self
    }

    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("strace");
        command.args(&self.0).arg(program);
        command
    }
}

/// Why nothing can be traced here, and what to do about it.
pub(crate) fn obstacle() -> Option<&'static str> {
    let run = |arguments: &[&str]| {
        let mut strace = Command::new("strace");
        strace
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
    };
    if !run(&["-V"]).is_ok_and(|status| status.success()) {
        return Some("strace is not installed (install the package strace)");
    }
    if !run(&["-qq", "-o", "/dev/null", "true"]).is_ok_and(|status| status.success()) {
        return Some("strace may not trace here (a container needs the capability SYS_PTRACE)");
    }
    let modern = [
        "-qq",
        "-yy",
        "-xx",
        "-e",
        "inject=fdatasync:error=EIO:when=1..2",
        "-o",
        "/dev/null",
        "true",
    ];
    if !run(&modern).is_ok_and(|status| status.success()) {
        return Some("strace is too old (6.1 is known to do)");
    }
    None
}
