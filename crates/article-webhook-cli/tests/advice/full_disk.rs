//! A start without room: each write to the files finds no space.

use std::{fs, process::Command};

use crate::{
    scene::{JOBS, Scene, jobs, stored},
    tool::{not_installed, seen, text, tool},
};

/// The tool, some of whose calls to the system fail.
fn with_failing(calls: &str) -> Option<Command> {
    if !Command::new("strace").arg("-V").output().is_ok_and(|it| it.status.success()) {
        not_installed("strace is missing");
        return None;
    }
    let mut failing = Command::new("strace");
    failing.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("inject={calls}")]);
    failing.arg(env!("CARGO_BIN_EXE_article-webhook"));
    Some(failing)
}

/// The disk fails once one file was moved.
#[tokio::test]
async fn a_restore_that_is_cut_is_undone_and_repeated() {
    let Some(mut restore) = with_failing("rename:error=EIO:when=2") else { return };
    let scene = Scene::new().await;
    let arguments = ["inbox", "restore", text(&scene.backup), text(&scene.file)];
    let (exit, out, error) = seen(&restore.args(arguments).output().unwrap());
    let (file, away) = (scene.shown(), format!("{}-before-restore", scene.shown()));
    let says = format!(
        "error: files of {file} were moved to {away}, and the restore is not complete: Input/output error (os error 5)\n\
         fix:   look at the disk, move {away}, {away}-wal and {away}-shm back, as far as they are there, and restore again\n"
    );
    assert_eq!(error, says, "{exit:?} {out}");
    scene.refused("");
    let mut moved = 0;
    for ending in ["", "-wal", "-shm"] {
        moved += usize::from(fs::rename(format!("{away}{ending}"), scene.beside(ending)).is_ok());
    }
    assert_eq!(moved, 1);
    let again = tool(arguments).output().unwrap();
    assert!(again.status.success(), "{:?}", seen(&again));
    assert!(stored(&scene.file).await.is_superset(&jobs(JOBS / 2)));
}

#[tokio::test]
async fn a_start_on_a_full_disk_says_that_it_is_full_and_loses_nothing() {
    for index in ["kept", "removed"] {
        let scene = Scene::new().await;
        if index == "removed" {
            scene.move_away(&["-shm"]);
        }
        let Some(mut start) = with_failing("pwrite64:error=ENOSPC") else { return };
        let text = scene.refused_by(&mut start).unwrap();
        let shown = scene.shown();
        let unreadable = [
            format!("error: {shown} cannot be read or written: "),
            "\nfix:   free some space if the disk or a quota is full, or else look at the disk, and start again\n"
                .to_owned(),
        ];
        assert!(
            unreadable.iter().all(|says| text.contains(says))
                || text.contains("the disk is full: free some space"),
            "{index}: {text}"
        );
        assert_eq!(stored(&scene.file).await, jobs(JOBS), "{index}");
    }
}
