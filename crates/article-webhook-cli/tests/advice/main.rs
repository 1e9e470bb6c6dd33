//! The steps that a refusal names, taken one by one: they lead to a start, and lose nothing without a word.
//!
//! Each test makes the situation, asserts the text, and does what the text says: commands are taken from the text itself. What
//! each refusal of the store says in full, and the steps that are not here, is in the tests `sqlite` of the inbox.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod damaged;
mod every_fix;
mod files;
mod full_disk;
mod jobs;
mod limits;
mod owners;
mod places;
mod processes;
mod scene;
mod stage;
mod steps;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../cli/sample.rs"]
mod sample;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../cli/tool.rs"]
mod tool;

use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::Command,
};

use rustix::process::{Pid, Signal, kill_process_group};

/// The first line that a program prints which goes on until it is ended, and what it reports.
fn first_line(program: &mut Command) -> (String, String) {
    let mut process = program.process_group(0).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let _ = kill_process_group(Pid::from_child(&process), Signal::TERM);
    let mut error = String::new();
    process.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    process.wait().unwrap();
    (line, error)
}

/// Copies the tool. Another process writes the copy: no program can be started while a process has it open for writing, which
/// one that another test starts at that moment would inherit.
fn copy_tool(to: &Path) {
    let tool = env!("CARGO_BIN_EXE_article-webhook");
    assert!(Command::new("cp").arg(tool).arg(to).status().unwrap().success());
}
