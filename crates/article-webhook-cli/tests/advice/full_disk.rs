//! A start without room: each write to the files finds no space.

use std::process::Command;

use crate::{
    scene::{JOBS, Scene, jobs, stored},
    tool::not_installed,
};

#[tokio::test]
async fn a_start_on_a_full_disk_says_that_it_is_full_and_loses_nothing() {
    if !Command::new("strace").arg("-V").output().is_ok_and(|it| it.status.success()) {
        not_installed("strace is missing");
        return;
    }
    for index in ["kept", "removed"] {
        let scene = Scene::new().await;
        if index == "removed" {
            scene.move_away(&["-shm"]);
        }
        let mut start = Command::new("strace");
        start.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=pwrite64:error=ENOSPC"]);
        start.arg(env!("CARGO_BIN_EXE_article-webhook"));
        let text = scene.refused_by(&mut start).unwrap();
        assert!(
            text.contains("free some space if the disk or a quota is full")
                || text.contains("the disk is full: free some space"),
            "{index}: {text}"
        );
        assert_eq!(stored(&scene.file).await, jobs(JOBS), "{index}");
    }
}
