use std::{
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
};

use super::{Found, TOKEN, doctor, found};
use crate::{
    sample,
    tool::{not_installed, skipped, text},
};

const TOOL: &str = env!("CARGO_BIN_EXE_article-webhook");

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// `doctor` of this file. `tests/load` preloads a library that slows each sync down: without it a sync is the file system's, and a
/// user who may not read the library has no message of the loader about it.
fn alone(file: &Path) -> Command {
    let mut alone = doctor(&["--inbox", text(file)]);
    alone.env_remove("LD_PRELOAD");
    alone
}

/// The tool in a mount namespace of its own, in which `mount` has made the folder.
fn mounted(folder: &Path, mount: &str) -> Option<Command> {
    let unshare = |script: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", text(folder), TOOL]);
        unshare.env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
        unshare
    };
    if !unshare(mount).output().is_ok_and(|output| output.status.success()) {
        skipped(&format!("this user may not mount: {mount}"));
        return None;
    }
    Some(unshare(&format!("{mount} && exec \"$2\" doctor --json --inbox \"$1\"/inbox.db")))
}

/// No disk is there to compare with.
fn is_in_memory(found: &Found) -> bool {
    found.out.contains("is in memory, and lost when the machine or the container stops")
}

#[test]
fn a_disk_whose_syncs_are_real_passes() {
    let (folder, file) = sample::place();
    let run = || found(&mut doctor(&["--inbox", text(&file)]));
    if !is_in_memory(&run()) {
        run().has("disk.sync", "ok");
    }
    run().has("inbox.missing", "warn");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_file_system_in_memory_and_its_sync_are_found() {
    if !Path::new("/dev/shm").is_dir() {
        not_installed("there is no /dev/shm");
        return;
    }
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let file = folder.path().join("inbox.db");
    let memory = found(&mut alone(&file));
    let folder = tempfile::tempdir().unwrap();
    let disk = found(&mut alone(&folder.path().join("inbox.db")));
    assert!(is_in_memory(&memory), "{memory:#?}");
    if is_in_memory(&disk) {
        memory.has("disk.sync_too_fast", "fail");
        return skipped("there is no folder on a disk");
    }
    memory.has("disk.easily_lost", "fail");
    assert_eq!(memory.fixes["disk.easily_lost"], "put it on a disk");
    let real = "put the inbox on a disk whose syncs are real: no memory, no `libeatmydata`, no `sync=disabled`, no virtual disk with the \
        cache mode `unsafe`";
    memory.is_cured("disk.sync_too_fast", "fail", real, &disk);
}

#[test]
fn little_or_no_space_a_layer_of_a_container_and_a_single_file_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let room = "make room, move the inbox to a larger disk, or shorten its retention";
    let fails = "look into the log of the system for errors of the disk, and whether it is full";
    for (size, code, severity, fix) in [
        ("16m", "disk.little_space", "fail", room),
        ("512m", "disk.little_space", "warn", room),
        ("64k", "disk.sync_fails", "fail", fails),
    ] {
        let of_size = |size: &str| {
            let mount = format!("mount -t tmpfs -o size={size} none \"$1\"");
            mounted(folder.path(), &mount).map(|mut run| found(&mut run))
        };
        let (Some(small), Some(large)) = (of_size(size), of_size("4g")) else { return };
        small.is_cured(code, severity, fix, &large);
    }
    let layer = "mount -t tmpfs none \"$1\" && cd \"$1\" && mkdir low up work over && \
                 mount -t overlay -o lowerdir=low,upperdir=up,workdir=work none over && mount --bind over \"$1\"";
    let of = |mount: &str| mounted(folder.path(), mount).map(|mut run| found(&mut run));
    let Some(layer_alone) = of(layer) else { return };
    layer_alone.has("disk.easily_lost", "fail");
    assert_eq!(layer_alone.fixes["disk.easily_lost"], "put it on a volume");
    // A volume is no single file, although it is mounted as well.
    let Some(volume) = of(&format!("{layer} && mount -t tmpfs volume \"$1\"")) else { return };
    assert!(is_in_memory(&volume), "{volume:#?}");
    let file = "mount -t tmpfs none \"$1\" && cd \"$1\" && touch inbox.db here && mount --bind here inbox.db";
    let Some(file) = of(file) else { return };
    assert_eq!(file.fixes["disk.easily_lost"], "mount its folder", "{file:#?}");
}

#[test]
fn a_folder_that_others_or_not_even_the_receiver_may_write_to_is_found() {
    let (folder, file) = sample::place();
    let run = || alone(&file);
    mode(folder.path(), 0o1777);
    assert_eq!(found(&mut run()).of("disk.folder_open_to_others"), "none", "as in /tmp");
    mode(folder.path(), 0o555);
    let mut run = run();
    if rustix::process::geteuid().is_root() {
        // Root may write everywhere.
        run.uid(65534).gid(65534);
    }
    if let Err(error) = run.output() {
        return skipped(&format!("another user cannot run the tool: {error}"));
    }
    let before = found(&mut run);
    mode(folder.path(), 0o1777);
    let fix = "let the user of the receiver write to the folder, or name a file in another";
    before.is_cured("disk.not_writable", "fail", fix, &found(&mut run));
    mode(folder.path(), 0o755);
}
