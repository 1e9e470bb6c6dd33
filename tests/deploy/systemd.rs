//! The unit, by systemd's own check.

#![allow(clippy::print_stdout)] // where systemd is missing, that is reported

use std::{fs, process::Command};

use crate::{DEPLOY, after, file, waits};

fn unit() -> &'static str {
    file(DEPLOY, "/etc/systemd/system/blog.service")
}

#[test]
fn systemd_finds_nothing_in_the_unit() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("blog.service");
    // Its program is not installed here, so another takes its place.
    fs::write(&path, unit().replace("/usr/local/bin/blog", "/bin/true")).expect("it is written");
    let Ok(verified) = Command::new("systemd-analyze").arg("verify").arg(&path).output() else {
        println!("skipped: systemd-analyze is not installed");
        return;
    };
    // A key that is not known is a warning. Warnings about other units of this machine do not count.
    let warnings = String::from_utf8_lossy(&verified.stderr);
    let found: Vec<_> = warnings.lines().filter(|line| line.contains("blog.service")).collect();
    assert_eq!(found, [""; 0]);
}

#[test]
fn the_unit_keeps_its_files_and_waits_for_the_end() {
    let folder = after(unit(), "\nStateDirectory=");
    assert_eq!(after(unit(), "ARTICLE_INBOX_DB="), format!("/var/lib/{folder}/inbox.db"));
    let credential = after(unit(), "LoadCredential=").split(':').next().expect("it has a name");
    assert_eq!(after(unit(), "ARTICLE_WEBHOOK_TOKEN_FILE="), format!("%d/{credential}"));
    assert!(waits(after(unit(), "TimeoutStopSec=")));
}
