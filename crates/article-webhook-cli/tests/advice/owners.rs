//! Files that belong to another user. Only root can make such a situation.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt},
    path::Path,
    process::Command,
};

use crate::{
    scene::{ENDINGS, JOBS, Scene, jobs, stored},
    tool::not_installed,
};

/// A user that is not root.
const USER: u32 = 65_534;

/// Why a receiver of that user does not start.
fn refused(scene: &Scene) -> Option<String> {
    let program = scene.path("tool");
    if !program.exists() {
        // The folder of the build may be root's alone.
        fs::copy(env!("CARGO_BIN_EXE_article-webhook"), &program).unwrap();
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
        ("", "let this process write to it and to its folder"),
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
