//! Commands that run until Ctrl-C, while the reader of their output does not read.

use std::{
    io::{PipeReader, PipeWriter, Read, Write, pipe},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rustix::fs::{OFlags, fcntl_setfl};

use crate::{
    running::{Running, until},
    tool::tool,
};

/// What a pipe holds in one piece.
const PAGE: usize = 4096;

/// A pipe in which only `room` bytes are free.
fn full_but_for(room: usize) -> (PipeReader, PipeWriter) {
    let (mut reader, mut writer) = pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'\n'; PAGE]).is_ok() {}
    reader.read_exact(&mut [0; PAGE]).unwrap();
    writer.write_all(&vec![b'\n'; PAGE - room]).unwrap();
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

/// How a command ends that is interrupted while its output is not read. The room is enough for its first lines.
fn interrupted(command: &mut Command, room: usize) -> Option<i32> {
    let (_reader, writer) = full_but_for(room);
    let command = command.stdout(writer).stderr(Stdio::null());
    let mut running = Running::of(command);
    // The command holds the writing end.
    command.stdout(Stdio::null());
    until("it does not handle Ctrl-C", || running.handles_ctrl_c().then_some(()));
    thread::sleep(Duration::from_secs(2));
    running.interrupt();
    running.ended()
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
