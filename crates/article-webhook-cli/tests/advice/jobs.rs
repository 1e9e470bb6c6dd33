//! Jobs, entries and orders.

use std::time::{Duration, SystemTime};

use article_webhook::fixture;
use article_webhook_inbox::{
    Inbox, Prune, SqliteStore,
    store::{BucketEvent, Outcome, Store},
};
use article_webhook_inbox_contract::settle_one;

use crate::{sample, stage::Stage};

#[test]
fn what_matches_nothing_is_looked_for_with_the_command_that_the_text_has() {
    let stage = Stage::new();
    let status = "article-webhook inbox status inbox.db";
    let list = "article-webhook inbox list inbox.db";
    for (command, says, way) in [
        (
            "inbox list inbox.db --job none",
            "no entry matches\nfix:   see what there is: article-webhook inbox status inbox.db",
            status,
        ),
        (
            "inbox export inbox.db --event none",
            "no entry matches\nfix:   see what there is: article-webhook inbox status inbox.db",
            status,
        ),
        (
            "inbox requeue inbox.db none",
            "nothing is known of none\nfix:   see what there is: article-webhook inbox status inbox.db",
            status,
        ),
        (
            "inbox show inbox.db none",
            "no entry of \"none\"\nfix:   see which there are: article-webhook inbox list inbox.db",
            list,
        ),
        (
            "inbox discard inbox.db job_done",
            "could not discard 1 entry: only a waiting, unhandled, corrupt or quarantined entry can be discarded\n\
             fix:   see their states: article-webhook inbox list inbox.db",
            list,
        ),
        (
            "send $RECEIVER $T --inbox inbox.db --job none",
            "no article of none\nfix:   article-webhook inbox list inbox.db",
            list,
        ),
    ] {
        let (_, named) = says.rsplit_once("article-webhook").unwrap();
        assert_eq!(format!("article-webhook{named}"), way);
        // It ends with 1, because an entry is dead.
        let way = if way == status { format!("{status} | grep total") } else { way.to_owned() };
        stage.follow(&format!("article-webhook {command}"), &format!("error: {says}"), &[&way]);
    }
    // A job of the list.
    for command in
        ["inbox show inbox.db job_dead", "send $RECEIVER $T --inbox inbox.db --job job_dead"]
    {
        stage.works(&format!("article-webhook {command}"));
    }
    stage.follow(
        "article-webhook get job_none $K",
        "error: job_not_found (404): There is no job of that job_id.\nfix:   check the job id, and that the key is the one that ordered the job",
        &["article-webhook get $(article-webhook order Shoes $K --json | cut -d'\"' -f12) $K --wait"],
    );
    let collect = "article-webhook collect --inbox=inbox.db";
    stage.follow(
        &format!("{collect} $K"),
        "error: the ledger has no job that is to be polled now\n\
         fix:   name a job to poll it: article-webhook collect --inbox=inbox.db JOB",
        &[&format!("{collect} $(article-webhook order Shoes $K --json | cut -d'\"' -f12) $K")],
    );
    let output = "article-webhook get $(cat job) $K --wait --html --output";
    stage.works("article-webhook order Shoes $K --json | cut -d'\"' -f12 >job");
    stage.follow(
        &format!("{output} ids"),
        "error: ids cannot be written: File exists (os error 17)\n\
         fix:   name a file that does not exist, in a folder that you may write to",
        &[&format!("{output} shoes.html")],
    );
}

#[test]
fn an_order_that_is_refused_or_not_known_is_repeated_as_the_text_says_and_made_once() {
    let stage = Stage::new();
    let order = "article-webhook order Shoes $K --inbox inbox.db --intent";
    stage.follow(
        &format!("{order} 'post 1'"),
        "error: an intent is 1 to 64 ASCII letters, digits, `-` or `_`\nfix:   give --intent such a name",
        &[&format!("{order} post-1")],
    );
    stage.follow(
        "article-webhook order Shoes $K --api-url $WITHOUT_A_BRAND",
        "error: not_configured (400): The brand is not set up yet. Call POST /v1/config/brand first.\n\
         fix:   configure the brand first: article-webhook brand FILE",
        &["article-webhook brand brand.json $K --api-url $WITHOUT_A_BRAND", "article-webhook order Shoes $K --api-url $WITHOUT_A_BRAND"],
    );
    stage.follow(
        "article-webhook brand brand.json $K --api-url $LOST",
        "error: the request may have been carried out, do not repeat it blindly: the connection to the service broke: error sending \
         request: client error (SendRequest): connection closed before message completed\n\
         fix:   look at the service whether it is configured now, and repeat the command if not",
        &["article-webhook brand brand.json $K"],
    );
    let limited = "article-webhook order Shoes $K --api-url $LIMITS";
    stage.follow(
        limited,
        "error: rate_limit_exceeded (429): Too many requests.\nfix:   try again in 60 min",
        &[limited],
    );
    stage.follow(
        "article-webhook order Shoes $K --api-url $LOST",
        "error: the request may have been carried out, do not repeat it blindly: the connection to the service broke: error sending \
         request: client error (SendRequest): connection closed before message completed\n\
         fix:   look whether the article was ordered before you order it again; an order with --intent is remembered",
        &[],
    );
    let lost = format!("{order} post-2 --api-url $LOST 2>&1 | sed 's/ of .* UTC//' >&2; exit 1");
    stage.follow(
        &lost,
        "error: it is not known whether the service took the order: the request may have been carried out, do not repeat it blindly: the \
         connection to the service broke: error sending request: client error (SendRequest): connection closed before message completed\n\
         fix:   look at the service; then repeat the command with --again to order all the same",
        &[&format!("{order} post-2 --again")],
    );
    let first = stage.works(&format!("{order} post-2"));
    assert!(first.starts_with("ordered before"), "{first}");
    let job = first.split_whitespace().last().unwrap();
    stage.runtime.block_on(async {
        let inbox = Inbox::open(stage.path("inbox.db")).await.unwrap();
        sample::deliver(&inbox, fixture::minimal().job_id(job)).await;
        inbox.close().await.unwrap();
    });
    stage.works(&format!("article-webhook inbox erase inbox.db {job}"));
    stage.follow(
        &format!("{order} post-2"),
        "error: the intent was ordered before, and its job was erased\nfix:   choose another --intent for a new article",
        &[&format!("{order} post-3")],
    );
}

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

/// A time at the end of a line, as `T`.
const WITHOUT_TIME: &str = "2>&1 >/dev/null | sed 's/until .*/until T/' >&2; exit 1";

#[test]
fn an_order_that_waits_for_another_or_for_a_pause_is_made_after_it() {
    let stage = Stage::new();
    let order = "article-webhook order Shoes $K --inbox inbox.db --intent";
    stage.works(&format!("{order} post-1"));
    stage.beside("inbox.db", async |store| {
        store.intend("post-2", Duration::from_secs(600), sample::BUCKET.key, None).await.unwrap();
    });
    let taken = format!("{order} post-2 {WITHOUT_TIME}");
    let says = "error: another process orders this intent, until T\nfix:   try again after that";
    stage.follow(&taken, says, &[]);
    let job = stage.ordered();
    stage.beside("inbox.db", async |store| {
        let (job, now) = (job.parse().unwrap(), SystemTime::now());
        store.ordered("post-2", job, now, sample::BUCKET.key).await.unwrap();
    });
    assert_eq!(stage.works(&format!("{order} post-2")), format!("ordered before  {job}\n"));

    // A key that is refused is paused alone.
    let refused = format!(
        "echo sk-other >other; article-webhook collect --inbox inbox.db --api-key-file other {job}x"
    );
    stage.works(&format!("{refused}; test $? = 1"));
    stage.works(&format!("{order} post-3"));
    stage.beside("inbox.db", async |store| {
        let limited = BucketEvent::RateLimited { retry_after: Duration::from_secs(3600) };
        store.report(limited).await.unwrap();
    });
    stage.follow(
        &format!("{order} post-4 {WITHOUT_TIME}"),
        "error: the service asked for a pause (rate limited), until T\n\
         fix:   try again after that; `article-webhook collect --inbox INBOX --resume` lifts the pause",
        &[
            "article-webhook collect --inbox inbox.db --resume $K; case $? in 0 | 3) ;; *) exit 1 ;; esac",
            &format!("{order} post-4"),
        ],
    );
}

#[test]
fn a_job_to_show_is_named() {
    Stage::new().follow(
        "article-webhook inbox show",
        "error: the job is missing, or is not a job id\nfix:   article-webhook inbox show INBOX JOB",
        &["article-webhook inbox show inbox.db job_dead", "article-webhook inbox show job_dead"],
    );
}

#[test]
fn a_group_of_causes_is_requeued_by_the_command_that_is_shown_with_it() {
    let stage = Stage::new();
    let shown = stage.output("article-webhook inbox causes inbox.db");
    let requeue = shown.lines().find(|line| line.contains("--cause='no article'")).unwrap();
    stage.follow(
        requeue,
        "error: requeue of 1 entry needs a confirmation\nfix:   add --yes; --dry-run shows what would be done",
        &[&format!("{requeue} --dry-run"), &format!("{requeue} --yes")],
    );
    let left = stage.output("article-webhook inbox causes inbox.db");
    assert!(left.contains("1  dead  ") && !left.contains("no article"), "{left}");
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

#[test]
fn a_job_is_named_to_be_erased_whole_or_polled_again() {
    let stage = Stage::new();
    stage.beside("inbox.db", async |store| {
        let inbox = Inbox::new(store.clone());
        sample::deliver(&inbox, fixture::complete().job_id("job_two")).await;
        sample::deliver(&inbox, fixture::complete().job_id("job_two").event("article.retracted"))
            .await;
    });
    let erase = "article-webhook inbox erase inbox.db";
    stage.follow(
        &format!("{erase} --event article.retracted --yes"),
        "error: 1 entry: the filters leave out another entry of its job, which would be erased with it\n\
         fix:   name the jobs to erase them whole: article-webhook inbox list inbox.db",
        &["article-webhook inbox list inbox.db", &format!("{erase} job_two")],
    );
    let collect = "article-webhook collect --inbox inbox.db";
    stage.works("article-webhook order Fails $K --json | cut -d'\"' -f12 >failed");
    let polled = format!("{collect} $K $(cat failed); test $? = 1");
    assert!(stage.works(&polled).ends_with("  failed\n"));
    let plan = stage.works(&format!("{collect} --from failed --dry-run"));
    let says = "     1  jobs failed, are unreadable or were not found: name one to poll it\n";
    assert!(plan.contains(says), "{plan}");
    assert!(stage.works(&polled).ends_with("  failed\n"), "it is polled again");
}
