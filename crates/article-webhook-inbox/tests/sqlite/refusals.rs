use article_webhook_inbox::{SqliteStore, store::Store};

use super::Place;

fn refusal(place: &Place) -> String {
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(!error.is_transient());
    error.to_string()
}

#[test]
fn a_second_owner_is_refused() {
    let place = Place::new();
    let first = place.open();
    let shown = place.shown();
    let says = format!(
        "this process has {shown} open already: clone the inbox or the store that is open, or close it first"
    );
    assert_eq!(refusal(&place), says);
    drop(first);

    // A lock belongs to the file that was opened, as if another process had done that.
    let other = std::fs::File::open(place.beside("-lock")).unwrap();
    other.lock().unwrap();
    assert_eq!(
        refusal(&place),
        format!(
            "another process uses {shown}, and holds the lock {shown}-lock: stop it, or give each a file of its own"
        )
    );
    other.unlock().unwrap();
    place.open();
}

#[cfg(unix)]
#[test]
fn a_link_to_the_file_has_the_same_lock() {
    let place = Place::new();
    let _first = place.open();
    let link = place.path.with_file_name("link.db");
    std::os::unix::fs::symlink(&place.path, &link).unwrap();
    let error = SqliteStore::open(link).unwrap_err();
    assert!(error.to_string().starts_with("this process has "), "{error}");
}

#[test]
fn a_missing_folder_is_named() {
    let place = Place::new();
    let folder = place.path.with_file_name("missing");
    let error = SqliteStore::open(folder.join("inbox.db")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the folder {} does not exist or cannot be entered: create it, or name another file",
            folder.display()
        )
    );
}

#[test]
fn a_folder_is_no_file() {
    let place = Place::new();
    let folder = place.path.parent().unwrap();
    let error = SqliteStore::open(folder).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is a folder: name a file in it", folder.display()));
}

// Not even root may create a file there.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_to_is_refused() {
    let error = SqliteStore::open("/sys/inbox.db").unwrap_err();
    assert_eq!(
        error.to_string(),
        "/sys/inbox.db-lock cannot be created: let this process write to /sys"
    );
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_unchanged() {
    let place = Place::new();
    let content = "not a database, but a text that is still needed. ".repeat(100);
    std::fs::write(&place.path, &content).unwrap();
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(error.is_damage());
    assert_eq!(
        error.to_string(),
        format!(
            "{} is not a SQLite database: name another file, or restore a backup",
            place.shown()
        )
    );
    assert_eq!(std::fs::read_to_string(&place.path).unwrap(), content);
}

#[tokio::test]
async fn a_damaged_file_is_refused() {
    let place = Place::new();
    let store = place.open();
    for number in 0..50 {
        store.record(super::arrival(&format!("job_{number}"), vec![b'a'; 4000])).await.unwrap();
    }
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let place = place.after_a_kill();
    let mut bytes = std::fs::read(&place.path).unwrap();
    bytes[8192..].chunks_mut(4096).for_each(|chunk| chunk[..64].fill(0xA5));
    std::fs::write(&place.path, bytes).unwrap();

    let error = SqliteStore::open(&place.path).unwrap_err();
    let shown = place.shown();
    assert!(error.is_damage(), "{error}");
    assert_eq!(
        error.to_string(),
        format!(
            "{shown} is damaged (SQLite cannot make sense of it): stop the receiver, move {shown}, {shown}-wal, \
             {shown}-shm and {shown}-lock away, and then copy a backup to {shown}, or begin anew without one"
        )
    );
    place.move_away(&["", "-wal", "-shm", "-lock"]);
    assert_eq!(place.total().await, 0);
}

#[test]
fn another_schema_is_refused() {
    let place = Place::new();
    drop(place.open());
    place
        .sql()
        .execute("UPDATE article_inbox_meta SET value = 99 WHERE name = 'schema'", [])
        .unwrap();
    let expected = format!(
        "{} has schema 99, and this version of the program needs 1: use the version that made the file, or name another file",
        place.shown()
    );
    assert_eq!(refusal(&place), expected);
    let error = SqliteStore::open_shared(&place.path).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_changed_schema_is_refused() {
    let place = Place::new();
    drop(place.open());
    place.sql().execute_batch("ALTER TABLE article_inbox_bodies ADD COLUMN shop TEXT").unwrap();
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(error.is_damage());
    assert_eq!(
        error.to_string(),
        format!(
            "{}: article_inbox_bodies is not what this version made: restore a backup, or undo the change",
            place.shown()
        )
    );
}

#[test]
fn a_file_that_another_program_locks_is_refused_transiently() {
    let place = Place::new();
    drop(place.open());
    let other = place.sql();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(error.is_transient());
    assert_eq!(
        error.to_string(),
        format!(
            "{} is locked by another program: end that program, or wait until it is done",
            place.shown()
        )
    );
}

#[test]
fn a_tool_needs_a_file_and_its_schema() {
    let place = Place::new();
    let shown = place.shown();
    let error = SqliteStore::open_shared(&place.path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{shown} does not exist: name the receiver's database, and start the receiver first"
        )
    );
    place.sql().execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE articles (id)").unwrap();
    let error = SqliteStore::open_shared(&place.path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{shown} is a database without an inbox: check the path; a receiver that starts with it makes one in it"
        )
    );
}

#[tokio::test]
async fn a_closed_store_fails_every_call_and_frees_the_file() {
    let place = Place::new();
    let store = place.open();
    store.close().await.unwrap();
    for error in [
        store.close().await.unwrap_err(),
        store.probe().await.unwrap_err(),
        store.counts().await.map(drop).unwrap_err(),
        store.check().await.map(drop).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "the inbox is closed");
        assert!(!error.is_transient());
    }
    place.open();
}
