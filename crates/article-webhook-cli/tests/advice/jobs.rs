//! Jobs, entries and orders.

use std::time::{Duration, SystemTime};

use article_webhook::fixture;
use article_webhook_inbox::{
    Inbox, Prune, SqliteStore,
    store::{Outcome, Store},
};
use article_webhook_inbox_contract::settle_one;

use crate::{sample, stage::Stage};

impl Stage {
    /// A job that the service has.
    fn ordered(&self) -> String {
        let job = self.works("article-webhook order Shoes $K --json | cut -d'\"' -f12");
        job.trim().to_owned()
    }

    /// What a program does that has the inbox open meanwhile.
    fn beside<T>(&self, inbox: &str, work: impl AsyncFnOnce(&SqliteStore) -> T) -> T {
        self.runtime.block_on(async {
            let store = SqliteStore::open(self.path(inbox)).unwrap();
            let done = work(&store).await;
            store.close().await.unwrap();
            done
        })
    }
}

#[test]
fn an_order_that_waits_for_another_is_made_after_it() {
    let stage = Stage::new();
    let order = "article-webhook order Shoes $K --inbox inbox.db --intent";
    stage.beside("inbox.db", async |store| {
        store.intend("post-1", Duration::from_secs(600), sample::BUCKET.key, None).await.unwrap();
    });
    let without_time = "2>&1 >/dev/null | sed 's/until .*/until T/' >&2; exit 1";
    let says = "error: another process orders this intent, until T\nfix:   try again after that";
    stage.refuses(&format!("{order} post-1 {without_time}"), says);
    let job = stage.ordered();
    stage.beside("inbox.db", async |store| {
        let (job, now) = (job.parse().unwrap(), SystemTime::now());
        store.ordered("post-1", job, now, sample::BUCKET.key).await.unwrap();
    });
    assert_eq!(stage.works(&format!("{order} post-1")), format!("ordered before  {job}\n"));
}

#[test]
fn what_retention_has_removed_is_asked_of_the_service() {
    let stage = Stage::new();
    let job = stage.ordered();
    stage.beside("pruned.db", async |store| {
        let request = fixture::complete().job_id(&job);
        sample::deliver(&Inbox::new(store.clone()), request).await;
        settle_one(store, Outcome::Done).await;
        let now = SystemTime::now() + Duration::from_secs(60);
        let entries_before = now - Duration::from_secs(3600);
        let prune = Prune { bodies_before: now, entries_before, limit: 10, ..Prune::default() };
        assert_eq!(store.prune(prune).await.unwrap().bodies, 1);
    });
    let fix = format!("fix:   get the article from the service: article-webhook get --wait {job}");
    let get = format!("ARTICLE_API_KEY=sk-simulator article-webhook get --wait {job}");
    for command in [
        format!("inbox show pruned.db {job} --body"),
        format!("send $RECEIVER $T --inbox pruned.db --job {job}"),
    ] {
        stage.follow(
            &format!("article-webhook {command}"),
            &format!("error: retention has removed the bodies of {job}\n{fix}"),
            &[&get],
        );
    }
}
