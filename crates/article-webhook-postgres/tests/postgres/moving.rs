//! An inbox and its ledger move from a file into the database, and back.

use std::io::Cursor;
use std::time::Duration;

use article_webhook::{
    Sink as _,
    fixture::{self, Defect},
};
use article_webhook_inbox::{
    Inbox, SqliteStore,
    store::{BucketEvent, Intended, Outcome, Settled, Store as _},
};

use crate::{CLAIM, Scene, arrival, scene::wait};

const HOUR: Duration = Duration::from_secs(3600);

/// The fingerprint of an API key.
const KEY: u64 = 7;

/// An article that was handled, one with two bodies, one in quarantine, an order that was answered, one that was not, and a pause.
async fn fill(store: &SqliteStore, inbox: &Inbox) {
    store.record(arrival("job_1", "{}")).await.unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    assert_eq!(store.settle(lease, Outcome::Done).await.unwrap(), Settled::Settled);
    for body in ["{}", "{ }"] {
        store.record(arrival("job_2", body)).await.unwrap();
    }
    let cut = fixture::complete().job_id("job_3").defect(Defect::TruncatedBody);
    let opened = fixture::receiver().open(cut.headers()).unwrap();
    inbox.keep_refused(opened.read(cut.bytes().clone()).unwrap_err()).await;
    for post in ["post-1", "post-2"] {
        let intended = store.intend(post, HOUR, KEY, None).await.unwrap();
        assert!(matches!(intended, Intended::Begun(_)));
    }
    store.ordered("post-1", "job_4".parse().unwrap(), store.now() + HOUR, KEY).await.unwrap();
    store.report(BucketEvent::RateLimited { retry_after: HOUR }).await.unwrap();
}

async fn exported(inbox: &Inbox) -> String {
    let mut lines = Vec::new();
    inbox.export(&mut lines).await.unwrap();
    String::from_utf8(lines).unwrap()
}

/// The lines of an export, without that of the bucket, which fills as time passes, and the end.
fn lines_of(export: &str) -> Vec<&str> {
    let is_fixed = |line: &&str| {
        !["bucket", "end"].iter().any(|kind| line.starts_with(&format!("{{\"kind\":\"{kind}\"")))
    };
    let mut lines: Vec<_> = export.lines().filter(is_fixed).collect();
    // An entry is numbered when its job is named first, which may be by what the ledger knows of it.
    lines.sort_unstable();
    lines
}

#[test]
fn an_inbox_moves_with_its_ledger_from_a_file_into_the_database_and_back() {
    let Some((_, database)) = Scene::opened() else { return };
    wait(async move {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteStore::open(folder.path().join("inbox.db")).unwrap();
        let back = SqliteStore::open(folder.path().join("back.db")).unwrap();
        let [from, there, again] =
            [Inbox::new(file.clone()), Inbox::new(database.clone()), Inbox::new(back.clone())];
        fill(&file, &from).await;

        let lines = exported(&from).await;
        let imported = there.import(Cursor::new(&lines)).await.unwrap();
        assert_eq!((imported.added, imported.present), (3, 0));
        assert_eq!(imported.ledger_added, 4, "two jobs and two intents");
        let moved = exported(&there).await;
        assert_eq!(lines_of(&moved), lines_of(&lines));
        let imported = again.import(Cursor::new(&moved)).await.unwrap();
        assert_eq!((imported.added, imported.ledger_added), (3, 4));
        assert_eq!(lines_of(&exported(&again).await), lines_of(&lines));

        // The pause of the service holds wherever it is.
        let pause = file.bucket().await.unwrap().pause;
        assert!(pause.is_some() && back.bucket().await.unwrap().pause == pause);
        let intended = database.intend("post-9", HOUR, KEY, None).await.unwrap();
        assert!(matches!(intended, Intended::Paused(_)), "{intended:?}");
        let again = there.import(Cursor::new(&lines)).await.unwrap();
        assert_eq!((again.added, again.present, again.ledger_added), (0, 3, 0));
    });
}
