//! Commands that run until Ctrl-C, while the reader of their output does not read.

use std::{
    fs,
    io::{PipeReader, PipeWriter, Read, Write, pipe},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{OFlags, fcntl_setfl},
    process::{Pid, Signal, kill_process},
};

use crate::{running::Running, tool::tool};

/// How long something may take that takes no time on an idle machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a pipe holds in one piece.
const PAGE: usize = 4096;

/// A pipe that is full but for so many bytes.
fn full_but_for(room: usize) -> (PipeReader, PipeWriter) {
    let (mut reader, mut writer) = pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'\n'; PAGE]).is_ok() {}
    reader.read_exact(&mut [0; PAGE]).unwrap();
    writer.write_all(&vec![b'\n'; PAGE - room]).unwrap();
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

fn handles_ctrl_c(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 0b10 != 0
}

fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// How a command ends that is interrupted while its output is not read. The room is enough for its first lines.
fn interrupted(command: &mut Command, room: usize) -> Option<i32> {
    let (_reader, writer) = full_but_for(room);
    let command = command.stdout(writer).stderr(Stdio::null());
    let mut running = Running(command.spawn().unwrap());
    // The command holds the writing end.
    command.stdout(Stdio::null());
    until("it handles Ctrl-C", || handles_ctrl_c(&running.0).then_some(()));
    thread::sleep(Duration::from_secs(2));
    kill_process(Pid::from_child(&running.0), Signal::INT).unwrap();
    until("it does not end", || running.0.try_wait().unwrap()).code()
}

#[test]
fn ctrl_c_ends_a_simulated_service_although_its_output_is_not_read() {
    let mut simulate = tool(["simulate", "--speed", "10000", "--json", "--order", "Shoes"]);
    let simulate = simulate.args(["--deliver-to", "http://127.0.0.1:9/"]);
    let simulate = simulate.env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
    assert_eq!(interrupted(simulate, 300), Some(0));
}

#[test]
fn ctrl_c_ends_a_demo_although_its_output_is_not_read() {
    assert_eq!(interrupted(&mut tool(["demo", "--json"]), 300), Some(0));
    let mut headless = tool(["demo", "--headless", "--json"]);
    assert_eq!(interrupted(&mut headless, 300), Some(1), "it is not at its end");
}
