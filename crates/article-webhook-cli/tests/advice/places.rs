//! Links, folders and other things in the place of a file.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, symlink},
    process::Command,
};

use article_webhook_inbox::SqliteStore;

use crate::scene::{ENDINGS, JOBS, Scene, copy, jobs, stored};

/// Without a log that holds something, what is missing is refused by the record, and nothing was changed meanwhile.
#[tokio::test]
async fn the_file_itself_takes_the_place_of_a_link_or_the_link_is_removed() {
    let endings = ["-wal", "-shm", "-lock"];
    for (ending, puts_back) in endings.map(|ending| [(ending, true), (ending, false)]).concat() {
        let scene = Scene::new().await;
        let (link, elsewhere) = (scene.beside(ending), scene.path("elsewhere"));
        fs::rename(&link, &elsewhere).unwrap();
        symlink(&elsewhere, &link).unwrap();
        scene.refused(&format!(
            "{} is a link: put the file itself in its place, or remove the link",
            link.display()
        ));
        fs::remove_file(&link).unwrap();
        if ending == "-wal" && !puts_back {
            scene.refused("put the removed log or the latest copy back");
        }
        if puts_back || ending == "-wal" {
            fs::rename(&elsewhere, &link).unwrap();
        }
        assert_eq!(stored(&scene.file).await, jobs(JOBS), "{ending}");
    }
}

#[tokio::test]
async fn what_is_no_regular_file_is_moved_away() {
    for ending in ["-wal", "-shm", "-lock"] {
        let scene = Scene::new().await;
        let (file, kept) = (scene.beside(ending), scene.path("kept"));
        fs::rename(&file, &kept).unwrap();
        fs::create_dir(&file).unwrap();
        let says = format!(
            "{} is not a regular file: move it away, or name another database",
            file.display()
        );
        scene.refused(&says);
        scene.move_away(&[ending]);
        if ending == "-wal" {
            scene.refused("put the removed log or the latest copy back");
            fs::rename(&kept, &file).unwrap();
        }
        assert_eq!(stored(&scene.file).await, jobs(JOBS), "{ending}");
    }
}

#[tokio::test]
async fn a_pipe_in_the_place_of_the_database_is_moved_away_and_the_database_put_back() {
    let scene = Scene::new().await;
    let kept = scene.path("kept");
    fs::rename(&scene.file, &kept).unwrap();
    assert!(Command::new("mkfifo").arg(&scene.file).status().unwrap().success());
    scene.refused("is not a regular file: move it away, or name another database");
    scene.move_away(&[""]);
    assert!(scene.path("away/inbox.db").metadata().unwrap().file_type().is_fifo());
    scene.refused("put the database back, or, to start with an empty inbox, move ");
    fs::rename(&kept, &scene.file).unwrap();
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}

#[tokio::test]
async fn a_folder_that_is_missing_is_made_and_one_that_is_named_gets_a_file() {
    let scene = Scene::new().await;
    let missing = scene.path("missing");
    let error = SqliteStore::open(missing.join("inbox.db")).unwrap_err().to_string();
    let says = "does not exist or cannot be entered: create it, or name another file";
    assert!(error.ends_with(says), "{error}");
    fs::create_dir(&missing).unwrap();
    for ending in ENDINGS {
        copy(&scene.beside(ending), &missing.join(format!("inbox.db{ending}")));
    }
    let error = SqliteStore::open(&missing).unwrap_err().to_string();
    assert!(error.ends_with("is a folder: name a file in it"), "{error}");
    assert_eq!(stored(&missing.join("inbox.db")).await, jobs(JOBS));
}
