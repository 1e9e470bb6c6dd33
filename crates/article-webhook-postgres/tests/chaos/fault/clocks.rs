use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::shared;
use crate::{database::Database, form::Form, node, trial};

/// How many seconds the clock of each node is ahead of the server's.
const AHEAD: [i64; 2] = [600, -600];

/// Moves the clock of the process that loads it, and no other of its clocks.
const CLOCK: &str = "#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += AHEAD;
    return failed;
}
";

/// The clocks of the nodes are wrong by ten minutes, each in another direction. They are killed, so that their leases end.
pub(crate) fn clocks(form: Form) -> Option<()> {
    let server = shared()?;
    let folder = tempfile::tempdir().unwrap();
    let clocks: Option<Vec<_>> =
        AHEAD.into_iter().map(|ahead| library(folder.path(), ahead)).collect();
    let Some(clocks) = clocks else {
        println!("postgres: clocks: skipped: there is no C compiler for a 64-bit Linux");
        return None;
    };
    let database = Database::fresh(&[server.port]).with_clocks(clocks);
    let kills = form.choose(4, 40);
    let record = trial::run("clocks", database, |trial| {
        for (found, ahead) in trial.clocks().into_iter().zip(AHEAD) {
            assert!((found - ahead).abs() < 120, "a clock is {found} s ahead, and not {ahead}");
        }
        for kill in 0..kills {
            thread::sleep(Duration::from_millis(fastrand::u64(20..500)));
            trial.kill(kill % 2);
            trial.goes_on("after a node was killed");
        }
        format!("clocks {AHEAD:?} s ahead, {kills} nodes killed")
    });
    // What a node holds is run again if it is killed, and not because a lease has ended by another's clock.
    let (extra, held) = (record.extra(), kills * node::CONCURRENCY);
    assert!(extra <= held, "{extra} runs more, and {held} at most were interrupted");
    Some(())
}

/// Compiles the clock. Nothing where that cannot be done.
fn library(folder: &Path, ahead: i64) -> Option<PathBuf> {
    if !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
        return None;
    }
    let library = folder.join(format!("clock{ahead}.so"));
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-x", "c", "-", "-o"]).arg(&library);
    compile.arg(format!("-DAHEAD=({ahead})")).stdin(Stdio::piped());
    let mut compile = compile.spawn().ok()?;
    compile.stdin.take()?.write_all(CLOCK.as_bytes()).ok()?;
    compile.wait().ok()?.success().then_some(library)
}
