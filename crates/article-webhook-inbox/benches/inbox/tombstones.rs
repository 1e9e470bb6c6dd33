use std::{path::Path, thread, time::Duration};

use article_webhook_inbox::SqliteStore;
use rusqlite::{Connection, params};

use crate::{
    contenders::Contender,
    form::Form,
    load::Race,
    scratch,
    table::{Table, at_least, plain},
};

/// Puts that many done entries without bodies into a store's file, as retention leaves them. The file must not be open.
///
/// The job ids are spread over the whole range in ascending order, so that the index is filled from left to right.
pub(crate) fn fill(path: &Path, count: i64) {
    drop(SqliteStore::open(path).unwrap());
    let connection = Connection::open(path).unwrap();
    for (name, value) in
        [("journal_mode", "OFF"), ("synchronous", "OFF"), ("cache_size", "-262144")]
    {
        connection.pragma_update(None, name, value).unwrap();
    }
    let numbers =
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)";
    connection
        .execute(
            &format!(
                "{numbers} INSERT INTO article_inbox_entries \
                 (id, job_id, event, received_at, state, attempts, fence, at, since, held, target, document, checksum) \
                 SELECT n, printf('job_%015x', n * ((1 << 60) / (?1 + 1))), 'article.complete', ?2 + n, 'done', \
                 1, 1, ?2 + n, ?2 + n, 0, 'blog', '{{\"interrupted\":0,\"conflicts\":0}}', 1 << 60 FROM number"
            ),
            params![count, 1_700_000_000_000_i64],
        )
        .unwrap();
    connection
        .execute(
            &format!(
                "{numbers} INSERT INTO article_inbox_bodies (slot, received_at, digest, document, checksum) \
                 SELECT n * 16, ?2 + n, randomblob(32), '{{\"source\":\"webhook\",\"target\":\"blog\"}}', 1 << 60 \
                 FROM number"
            ),
            params![count, 1_700_000_000_000_i64],
        )
        .unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
}

/// The rate of deliveries into a store with many tombstones, compared with an empty one.
pub(crate) fn run(form: Form) {
    let (count, name) = match form {
        Form::Short => (1_000_000, "1,000,000 tombstones"),
        Form::Long => (10_000_000, "10,000,000 tombstones"),
    };
    let runtime = crate::runtime();
    let folder = scratch::folder();
    let path = folder.path().join("long.db");
    fill(&path, count);
    // Unsynced writes are still on their way to the disk.
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    thread::sleep(Duration::from_secs(1));
    let contenders = [&folder.path().join("new.db"), &path]
        .map(|path| Contender::Store(SqliteStore::open(path).unwrap()));
    let race = Race::run(&contenders, 64, form.rounds(), form.turn(), &runtime);
    let mut table = Table::new(
        "inbox: tombstones",
        "deliveries of 16 KB a second, 64 waiting : the same without a past",
        &["file", "a second", ": none", "p99"],
    );
    table.row("none", [plain(race.rate(0), ""), plain(1.0, " ×"), plain(race.p99(0), " ms")]);
    table.row(
        name,
        [plain(race.rate(1), ""), at_least(race.ratio(1, 0), 0.8, " ×"), plain(race.p99(1), " ms")],
    );
    println!("{table}");
}
