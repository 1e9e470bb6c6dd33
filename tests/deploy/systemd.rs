//! The unit, by systemd's own check.

#![allow(clippy::print_stdout)] // where systemd is missing, that is reported

use std::{fs, process::Command};

use crate::{DEPLOY, after, file, waits};

fn unit() -> &'static str {
    file(DEPLOY, "/etc/systemd/system/blog.service")
}

/// What systemd finds in a unit. Its program is not installed here, so another takes its place. `None`: systemd is missing.
fn findings(unit: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("blog.service");
    fs::write(&path, unit.replace("/usr/local/bin/blog", "/bin/true")).expect("it is written");
    let verified = Command::new("systemd-analyze").arg("verify").arg(&path).output().ok()?;
    // A key that is not known is a warning.
    let warnings = String::from_utf8_lossy(&verified.stderr).into_owned();
    // Other units of this machine are not its matter.
    let of_the_unit = warnings.lines().filter(|line| line.contains("blog.service"));
    Some(of_the_unit.collect::<Vec<_>>().join("\n"))
}

#[test]
fn systemd_finds_nothing_in_the_unit() {
    let Some(found) = findings(unit()) else {
        println!("skipped: systemd-analyze is not installed");
        return;
    };
    assert_eq!(found, "");
    let wrong = unit().replace("TimeoutStopSec", "TimeoutStop");
    let found = findings(&wrong).expect("it ran before");
    assert!(found.contains("Unknown key"), "{found}");
}

#[test]
fn the_unit_keeps_its_files_and_waits_for_the_end() {
    let folder = after(unit(), "\nStateDirectory=");
    assert_eq!(after(unit(), "ARTICLE_INBOX_DB="), format!("/var/lib/{folder}/inbox.db"));
    let credential = after(unit(), "LoadCredential=").split(':').next().expect("it has a name");
    assert_eq!(after(unit(), "ARTICLE_WEBHOOK_TOKEN_FILE="), format!("%d/{credential}"));
    assert!(waits(after(unit(), "TimeoutStopSec=")));
}
