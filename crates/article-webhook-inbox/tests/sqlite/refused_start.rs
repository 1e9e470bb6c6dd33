//! A start that is refused has changed nothing.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use article_webhook_inbox::{Restored, SqliteStore};

use super::{Fixture, copy, record, within};

/// SQLite would remove it.
#[tokio::test]
async fn a_log_beside_an_empty_database_is_kept() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    let crashed = fixture.after_a_kill();
    fs::write(&crashed.path, "").unwrap();
    let refusal = refused(&crashed);
    assert!(refusal.contains("is empty: put the database back"), "{refusal}");
}

/// Beside these files there may be no lock and no index of the log: a start makes them before it is refused.
fn refused(fixture: &Fixture) -> String {
    fixture.refused_beside(&["-shm", "-lock"])
}

/// The steps of the message lead to the backup.
async fn restore(fixture: &Fixture, backup: &Path, entries: u64) -> Restored {
    let restored = SqliteStore::restore(backup, &fixture.path).unwrap();
    assert_eq!(fixture.total().await, entries);
    restored
}

#[tokio::test]
async fn a_backup_beside_an_old_log_is_not_mixed_with_it() {
    let fixture = Fixture::new();
    // In the first round the log holds the whole database, and in the second a part of it.
    for (start, end) in [(0, 60), (60, 80)] {
        let store = fixture.open();
        record(&store, start..end - 10).await;
        let backup = fixture.beside(&format!("-backup{start}"));
        fixture.sql().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
        record(&store, end - 10..end).await;
        let crashed = fixture.after_a_kill();
        drop(store);

        copy(&backup, &crashed.path);
        let refusal = refused(&crashed);
        let command = format!("`article-webhook inbox restore BACKUP {}`", crashed.shown());
        assert!(refusal.contains(&command), "{refusal}");
        let restored = restore(&crashed, &backup, u64::from(end - 10)).await;
        let unread = "the log of the old file belongs to another database";
        assert_eq!(restored.unread.as_deref(), Some(unread), "{start}");
    }
}

/// A log begins again whenever all of it is in the file. A copy of the file from before that lacks what the log had until then.
#[tokio::test]
async fn a_copy_from_before_its_log_began_again_is_refused() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..10).await;
    within(30, async || in_file(&fixture) == 10).await;
    let before = fixture.copied(&[""]);
    record(&store, 10..20).await;
    within(30, async || in_file(&fixture) == 20).await;
    record(&store, 20..21).await;
    let crashed = fixture.after_a_kill();
    copy(&before.path, &crashed.path);
    let refusal = refused(&crashed);
    assert!(refusal.contains("belongs to another copy of the database"), "{refusal}");
    assert_eq!(fixture.after_a_kill().total().await, 21);
}

/// How many entries the file has without its log.
fn in_file(fixture: &Fixture) -> u32 {
    let count = "SELECT count(*) FROM article_inbox_entries";
    fixture.copied(&[""]).sql().query_row(count, [], |row| row.get(0)).unwrap()
}

/// All pages of the log together are a sound database: only their number shows that they are not this file's.
#[tokio::test]
async fn a_sound_mixture_of_a_backup_and_a_log_is_found() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    drop(store);
    let backup = fixture.beside("-backup");
    copy(&fixture.path, &backup);
    drop(fixture.open());
    let store = fixture.open();
    record(&store, 1..3).await;
    let crashed = fixture.after_a_kill();

    copy(&backup, &crashed.path);
    let sound =
        crashed.after_a_kill().sql().query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(sound, Ok("ok".to_owned()));
    let shown = crashed.shown();
    assert_eq!(
        refused(&crashed),
        format!(
            "the log {shown}-wal belongs to another copy of the database: put that copy back; or restore a backup \
             with `article-webhook inbox restore BACKUP {shown}`, which moves these files away"
        )
    );
    restore(&crashed, &backup, 1).await;
}

#[test]
fn a_file_of_another_kind_keeps_its_mode_and_gets_no_lock() {
    for times in [1, 100] {
        let fixture = Fixture::new();
        fs::write(&fixture.path, "a text that others may read. ".repeat(times)).unwrap();
        fs::set_permissions(&fixture.path, fs::Permissions::from_mode(0o644)).unwrap();
        let shown = fixture.shown();
        let says = format!(
            "{shown} is not a SQLite database: name another file; or, if it was one, read what is left of it into a new file with \
             `article-webhook inbox salvage {shown} NEW`; or {}",
            fixture.restore_steps()
        );
        assert_eq!(refused(&fixture), says);
        assert!(SqliteStore::open(&fixture.path).unwrap_err().is_damaged());
        let around = fs::read_dir(fixture.path.parent().unwrap()).unwrap();
        assert_eq!(around.count(), 1, "{times}: nothing was made beside it");
    }
}

#[tokio::test]
async fn a_file_with_two_names_is_refused_under_both() {
    // With a log, which a copy of the file alone would lack.
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    let fixture = fixture.after_a_kill();
    let other = Fixture::new();
    fs::hard_link(&fixture.path, &other.path).unwrap();
    for fixture in [&fixture, &other] {
        assert_eq!(
            refused(fixture),
            format!(
                "{0} is one file with 2 names (hard links), and a second receiver could open it under another: remove \
                 the others, which `find / -samefile {0}` lists",
                fixture.shown()
            )
        );
        assert!(!other.beside("-lock").exists());
    }
    fs::remove_file(&other.path).unwrap();
    assert_eq!(fixture.total().await, 3);
}

#[test]
fn a_start_that_cannot_make_the_schema_has_written_nothing() {
    let fixture = Fixture::new();
    fixture.sql().execute_batch("CREATE TABLE article_inbox_entries (shop)").unwrap();
    refused(&fixture);
}
