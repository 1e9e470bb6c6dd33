//! A start that is refused has changed nothing.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use article_webhook_inbox::{SqliteStore, store::Store};

use super::{
    Place, arrival, copy,
    damage::{checked, closed},
    record,
};

/// The bytes and the metadata of the database, its log and whatever else is named.
fn state(place: &Place) -> Vec<Option<(Vec<u8>, [u64; 5])>> {
    let look = |ending: &str| {
        let path = place.beside(ending);
        let file = path.symlink_metadata().ok()?;
        let bytes = if file.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let mode = u64::from(file.mode());
        Some((bytes, [file.ino(), mode, file.nlink(), file.uid().into(), file.gid().into()]))
    };
    ["", "-wal", "-journal"].map(look).into()
}

/// What a start says that is refused, and that leaves the files as they are.
fn refused(place: &Place) -> String {
    let before = state(place);
    let error = SqliteStore::open_with(&place.path, settings(place)).unwrap_err();
    assert!(state(place) == before, "the start was refused and has changed something: {error}");
    assert!(!error.is_transient());
    error.to_string()
}

fn settings(place: &Place) -> article_webhook_inbox::SqliteSettings {
    article_webhook_inbox::SqliteSettings::default().clock(place.clock.clone())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A crash left a log, and a part of what it holds is in the database.
async fn crashed() -> Place {
    let place = Place::new();
    let store = place.open();
    record(&store, 0..20).await;
    let crashed = place.after_a_kill();
    assert!(crashed.beside("-wal").metadata().unwrap().len() > 0);
    crashed
}

#[tokio::test]
async fn a_log_without_its_database_is_kept() {
    let place = crashed().await;
    let away = place.beside("-away");
    fs::rename(&place.path, &away).unwrap();
    let log = place.beside("-wal").metadata().unwrap().len();
    let shown = place.shown();
    let expected = |what: &str| {
        format!(
            "the log {shown}-wal holds {log} bytes, but the database {shown} is {what}: put the database back, or, to \
             begin anew, move {shown}-wal, {shown}-shm and {shown}-lock away"
        )
    };
    assert_eq!(refused(&place), expected("missing"));
    fs::write(&place.path, "").unwrap();
    assert_eq!(refused(&place), expected("empty"));
    assert_eq!(SqliteStore::open_shared(&place.path).unwrap_err().to_string(), expected("empty"));

    let anew = place.after_a_kill();
    fs::rename(&away, &place.path).unwrap();
    assert_eq!(place.total().await, 20);
    anew.move_away(&["-wal", "-shm", "-lock"]);
    assert_eq!(anew.total().await, 0);
}

/// The steps of the message lead to the backup.
async fn restore(place: &Place, backup: &Path, entries: u64) {
    place.move_away(&["-wal", "-shm", "-lock"]);
    copy(backup, &place.path);
    assert_eq!(place.total().await, entries);
}

#[tokio::test]
async fn a_backup_beside_an_old_log_is_not_mixed_with_it() {
    let place = Place::new();
    // In the first round the log holds the whole database, and in the second a part of it.
    for (start, end) in [(0, 60), (60, 80)] {
        let store = place.open();
        record(&store, start..end - 10).await;
        let backup = place.beside(&format!("-backup{start}"));
        place.sql().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
        record(&store, end - 10..end).await;
        let crashed = place.after_a_kill();
        drop(store);

        copy(&backup, &crashed.path);
        let refusal = refused(&crashed);
        assert!(
            refusal.contains(&format!("move {0}-wal, {0}-shm and {0}-lock away", crashed.shown())),
            "{refusal}"
        );
        restore(&crashed, &backup, u64::from(end - 10)).await;
    }
}

/// All pages of the log together are a sound database: only their number tells that they are not this file's.
#[tokio::test]
async fn a_sound_mixture_of_a_backup_and_a_log_is_found() {
    let place = Place::new();
    let store = place.open();
    record(&store, 0..1).await;
    drop(store);
    let backup = place.beside("-backup");
    copy(&place.path, &backup);
    drop(place.open());
    let store = place.open();
    record(&store, 1..3).await;
    let crashed = place.after_a_kill();

    copy(&backup, &crashed.path);
    let sound =
        crashed.after_a_kill().sql().query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(sound, Ok("ok".to_owned()));
    let shown = crashed.shown();
    assert_eq!(
        refused(&crashed),
        format!(
            "the log {shown}-wal belongs to another copy of the database: put that copy back; or, to restore a \
             backup, move {shown}-wal, {shown}-shm and {shown}-lock away, and only then copy the backup"
        )
    );
    restore(&crashed, &backup, 1).await;
}

#[tokio::test]
async fn a_newer_schema_keeps_its_log() {
    let place = Place::new();
    let store = place.open();
    record(&store, 0..3).await;
    let newer = "UPDATE article_inbox_meta SET value = 99 WHERE name = 'schema'";
    place.sql().execute(newer, []).unwrap();
    let crashed = place.after_a_kill();
    set_mode(&crashed.path, 0o644);
    assert!(refused(&crashed).contains("has schema 99"));
}

#[tokio::test]
async fn a_trigger_of_another_program_is_refused_by_its_name() {
    let place = Place::new();
    let store = place.open();
    record(&store, 0..3).await;
    let trigger = "CREATE TRIGGER audit AFTER UPDATE ON article_inbox_entries BEGIN SELECT 1; END";
    place.sql().execute_batch(trigger).unwrap();
    let found = "the trigger audit on article_inbox_entries is not the inbox's";
    assert_eq!(checked(&store).await, [found]);
    let crashed = place.after_a_kill();
    assert_eq!(
        refused(&crashed),
        format!("{}: {found}: restore a backup, or undo the change", crashed.shown())
    );
    crashed.sql().execute_batch("DROP TRIGGER audit").unwrap();
    assert_eq!(crashed.total().await, 3);
}

#[test]
fn a_file_of_another_kind_keeps_its_mode_and_gets_no_lock() {
    for times in [1, 100] {
        let place = Place::new();
        fs::write(&place.path, "a text that others may read. ".repeat(times)).unwrap();
        set_mode(&place.path, 0o644);
        assert!(refused(&place).contains("is not a SQLite database"));
        let around = fs::read_dir(place.path.parent().unwrap()).unwrap();
        assert_eq!(around.count(), 1, "{times}: nothing was made beside it");
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_a_file_is_not_followed() {
    for ending in ["-wal", "-shm", "-lock"] {
        let place = Place::new();
        drop(place.open());
        let (link, goal) = (place.beside(ending), place.beside("-elsewhere"));
        let _ = fs::remove_file(&link);
        symlink(&goal, &link).unwrap();
        assert_eq!(
            refused(&place),
            format!(
                "{} is a link: put the file itself in its place, or remove the link",
                link.display()
            )
        );
        assert!(!goal.exists());
        symlink_to_a_device(&place, &link);
        fs::remove_file(&link).unwrap();
        fs::create_dir(&link).unwrap();
        assert!(refused(&place).contains("is not a regular file"));
    }
}

fn symlink_to_a_device(place: &Place, link: &Path) {
    let mode = fs::metadata("/dev/null").unwrap().mode();
    fs::remove_file(link).unwrap();
    symlink("/dev/null", link).unwrap();
    refused(place);
    assert_eq!(fs::metadata("/dev/null").unwrap().mode(), mode);
}

#[tokio::test]
async fn a_file_with_two_names_is_refused_under_both() {
    let place = Place::new();
    drop(place.open());
    let other = Place::new();
    fs::hard_link(&place.path, &other.path).unwrap();
    for place in [&place, &other] {
        assert_eq!(
            refused(place),
            format!(
                "{} is one file with 2 names (hard links), and a second receiver could open it under another: copy it, \
                 and name the copy",
                place.shown()
            )
        );
        assert!(!other.beside("-lock").exists());
    }
}

#[test]
fn a_device_or_pipe_is_no_database() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(&place.path).status().unwrap().success());
    assert!(refused(&place).contains("is not a regular file"));
    let error = SqliteStore::open("/dev/null").unwrap_err();
    assert!(error.to_string().contains("is not a regular file"), "{error}");
    assert!(!Path::new("/dev/null-lock").exists());
}

/// What a start would do is tried before: no look at the file shows that it fails.
#[tokio::test]
async fn a_start_that_cannot_build_indexes_again_has_written_nothing() {
    let place = closed().await;
    let store = place.open();
    let by_key = ("sqlite_autoindex_article_inbox_entries_1", "job_id, event, id");
    place.damage_index(by_key, "DELETE FROM changed WHERE id = 2");
    let columns =
        "event, received_at, state, attempts, fence, at, since, held, target, document, checksum";
    let twin = format!(
        "INSERT INTO article_inbox_entries (job_id, {columns}) SELECT job_id, {columns} FROM article_inbox_entries WHERE id = 2"
    );
    place.sql().execute_batch(&twin).unwrap();
    let crashed = place.after_a_kill();
    drop(store);
    let shown = crashed.shown();
    assert_eq!(
        refused(&crashed),
        format!(
            "{shown} is damaged (wrong # of entries in index sqlite_autoindex_article_inbox_entries_1): stop the receiver, \
             move {shown}, {shown}-wal, {shown}-shm and {shown}-lock away, and then copy a backup to {shown}, or begin anew without one"
        )
    );
    crashed.sql().execute_batch("DELETE FROM article_inbox_entries WHERE id = 5").unwrap();
    assert_eq!(crashed.total().await, 4);
}

/// With such a list a new delivery could overwrite another.
#[tokio::test]
async fn a_damaged_list_of_free_pages_is_refused_after_a_crash() {
    let place = Place::new();
    let store = place.open();
    store.record(arrival("job_1", vec![b'a'; 100_000])).await.unwrap();
    store.erase(vec!["job_1".parse().unwrap()]).await.unwrap();
    store.record(arrival("job_2", "{}")).await.unwrap();
    let crashed = place.after_a_kill();
    // The log is in the file.
    crashed.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = fs::read(&crashed.path).unwrap();
    bytes[39] ^= 1; // the number of free pages
    fs::write(&crashed.path, bytes).unwrap();
    let refusal = refused(&crashed);
    assert!(refusal.contains(" is damaged (Freelist: "), "{refusal}");
}

#[test]
fn a_start_that_cannot_make_the_schema_has_written_nothing() {
    let place = Place::new();
    place.sql().execute_batch("CREATE TABLE article_inbox_entries (shop)").unwrap();
    refused(&place);
}
