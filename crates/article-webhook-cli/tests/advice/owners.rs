//! Files that belong to another user. Only root can make such a situation.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use crate::{
    copy_tool,
    scene::{ENDINGS, JOBS, Scene, jobs, stored},
    tool::{not_installed, seen, text},
};

/// A user that is not root.
const USER: u32 = 65_534;

/// Why a receiver of that user does not start.
fn refused(scene: &Scene) -> Option<String> {
    let program = scene.path("tool");
    if !program.exists() {
        // The folder of the build may be root's alone.
        copy_tool(&program);
    }
    scene.refused_by(Command::new(program).uid(USER).gid(USER))
}

pub(crate) fn own(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
}

/// A scene whose files all belong to that user, or nothing if this is not root.
async fn owned() -> Option<Scene> {
    if !rustix::process::geteuid().is_root() {
        not_installed("the tests of owners need root");
        return None;
    }
    let scene = Scene::new().await;
    own(scene.root(), USER);
    ENDINGS.iter().for_each(|ending| own(&scene.beside(ending), USER));
    Some(scene)
}

#[tokio::test]
async fn a_file_of_another_owner_is_made_the_receivers() {
    for (ending, says) in [
        ("-lock", "\nfix:   make it belong to this process's user"),
        (
            "",
            "let this process write to it and to its folder, and raise its limit of open files if that is reached; otherwise the header of \
             the file is damaged, and `article-webhook inbox salvage ",
        ),
    ] {
        let Some(scene) = owned().await else { return };
        own(&scene.beside(ending), 0);
        let text = refused(&scene).unwrap();
        assert!(text.contains(says), "{ending}: {text}");
        own(&scene.beside(ending), USER);
        assert_eq!(refused(&scene), None);
        assert_eq!(stored(&scene.file).await, jobs(JOBS));
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_made_writable() {
    let Some(scene) = owned().await else { return };
    scene.move_away(&["-lock"]);
    own(scene.root(), 0);
    let text = refused(&scene).unwrap();
    let says = format!("\nfix:   let this process write to {}\n", scene.root().display());
    assert!(text.contains(&says), "{text}");
    own(scene.root(), USER);
    assert_eq!(refused(&scene), None);
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}

/// What the tool of that user prints on standard error.
fn output(scene: &Scene, arguments: &[&str]) -> String {
    let _ = refused(scene);
    let mut tool = Command::new(scene.path("tool"));
    seen(&tool.args(arguments).uid(USER).gid(USER).output().unwrap()).2
}

#[tokio::test]
async fn rights_that_only_the_owner_can_take_away_are_taken_away() {
    let Some(scene) = owned().await else { return };
    own(&scene.file, 0);
    fs::set_permissions(&scene.file, Permissions::from_mode(0o666)).unwrap();
    let says = format!(
        "error: others can read {}, and it cannot be changed: Operation not permitted (os error 1)\n\
         fix:   make it belong to this process's user\n",
        scene.shown()
    );
    assert_eq!(refused(&scene), Some(says));
    own(&scene.file, USER);
    assert_eq!(refused(&scene), None);
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}

#[tokio::test]
async fn what_a_salvage_or_a_backup_needs_is_given_to_it() {
    let Some(scene) = owned().await else { return };
    let (closed, new) = (scene.path("closed"), scene.path("new.db"));
    fs::create_dir(&closed).unwrap();
    let copy = closed.join("copy.db");
    let backup = ["inbox", "backup", text(&scene.file), text(&copy)];
    let says = format!(
        "error: the folder {}-unfinished cannot be made: Permission denied (os error 13)\nfix:   let this process write beside it\n",
        copy.display()
    );
    assert_eq!(output(&scene, &backup), says);
    own(&closed, USER);
    assert_eq!(output(&scene, &backup), "");

    let lock = scene.beside("-lock");
    own(&lock, 0);
    let salvage = ["inbox", "salvage", text(&scene.file), text(&new)];
    let says = format!(
        "error: {} cannot be read or locked: Permission denied (os error 13)\nfix:   let this process read it\n",
        lock.display()
    );
    assert_eq!(output(&scene, &salvage), says);
    own(&lock, USER);
    assert_eq!(output(&scene, &salvage), "");
    for file in [copy, new] {
        own(&file, 0);
        assert_eq!(stored(&file).await, jobs(JOBS));
    }
}
