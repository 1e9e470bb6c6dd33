use std::{
    env,
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    form::Form,
    load::Race,
    scratch,
    store::contenders,
    table::{Table, at_least, plain},
};

/// The argument that makes this program the one with slow syncs.
pub(crate) const CHILD: &str = "--slow-child";

const TARGETS: [(usize, f64); 2] = [(64, 18.0), (256, 35.0)];

/// The same on a disk whose syncs take two milliseconds longer: strace delays each sync, and no other call.
pub(crate) fn run(form: Form) {
    let mut table = Table::new(
        "inbox: slow",
        "the same with two milliseconds more for every fsync",
        &["waiting", "naive", "store", ": naive"],
    );
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=fdatasync,fsync"])
        .args(["-e", "inject=fdatasync,fsync:delay_exit=2000", "-o", "/dev/null"])
        .arg(env::current_exe().unwrap())
        .arg(CHILD);
    if form == Form::Long {
        strace.arg("--long");
    }
    let child = match strace.stdin(Stdio::null()).output() {
        Ok(child) if child.status.success() => child,
        Ok(child) => {
            return eprintln!(
                "slow: strace may not trace here: {}",
                String::from_utf8_lossy(&child.stderr)
            );
        }
        Err(error) => return eprintln!("slow: strace cannot be run: {error}"),
    };
    let figures = String::from_utf8(child.stdout).unwrap();
    for (line, (waiting, target)) in figures.lines().zip(TARGETS) {
        let figures: Vec<f64> = line.split(' ').map(|figure| figure.parse().unwrap()).collect();
        let [naive, store, ratio] = figures[..] else {
            panic!("three figures a line, found {line:?}")
        };
        table.row(waiting, [plain(naive, ""), plain(store, ""), at_least(ratio, target, " ×")]);
    }
    println!("{table}");
}

/// Prints a line of figures for each number of waiting deliveries.
pub(crate) fn child() {
    let arguments: Vec<String> = env::args().collect();
    let form = Form::of(&arguments);
    let runtime = crate::runtime();
    for (waiting, _) in TARGETS {
        let folder = scratch::folder();
        let race =
            Race::run(&contenders(folder.path()), waiting, form.rounds(), turn(form), &runtime);
        println!("{} {} {}", race.rate(0), race.rate(1), race.ratio(1, 0));
    }
}

/// The naive contender stores two or three hundred deliveries per second.
fn turn(form: Form) -> Duration {
    form.turn() * 2
}
