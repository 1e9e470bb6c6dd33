//! Jobs, entries and orders.

use article_webhook::fixture;
use article_webhook_inbox::Inbox;

use crate::{sample, stage::Stage};

#[test]
fn what_matches_nothing_is_looked_for_with_the_command_that_the_text_has() {
    let stage = Stage::new();
    let counts = "article-webhook inbox counts inbox.db";
    let list = "article-webhook inbox list inbox.db";
    for (command, says, way) in [
        (
            "inbox list inbox.db --event none",
            "no entry matches\nfix:   see what there is: article-webhook inbox counts inbox.db",
            counts,
        ),
        (
            "inbox jobs inbox.db",
            "no job matches\nfix:   see what there is: article-webhook inbox counts inbox.db",
            counts,
        ),
        (
            "inbox export inbox.db --event none",
            "no entry matches\nfix:   see what there is: article-webhook inbox counts inbox.db",
            counts,
        ),
        (
            "inbox requeue inbox.db none",
            "nothing is known of none\nfix:   see what there is: article-webhook inbox counts inbox.db",
            counts,
        ),
        (
            "inbox show inbox.db none",
            "no entry of \"none\"\nfix:   see which there are: article-webhook inbox list inbox.db",
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
        stage.follow(&format!("article-webhook {command}"), &format!("error: {says}"), &[way]);
    }
    // A job of the list.
    for command in
        ["inbox show inbox.db job_dead", "send $RECEIVER $T --inbox inbox.db --job job_dead"]
    {
        stage.works(&format!("article-webhook {command}"));
    }
    stage.follow(
        "article-webhook get job_none $K",
        "error: job_not_found (404): There is no job of that job_id.\nfix:   check the job id, and that the key is the one that ordered it",
        &["article-webhook get $(article-webhook order Shoes $K --json | cut -d'\"' -f4) $K --wait"],
    );
    let collect = "article-webhook collect --inbox=inbox.db";
    stage.follow(
        &format!("{collect} $K"),
        "error: the ledger has no job that is to be polled now\n\
         fix:   name a job to poll it: article-webhook collect --inbox=inbox.db JOB",
        &[&format!("{collect} $(article-webhook order Shoes $K --json | cut -d'\"' -f4) $K")],
    );
    let output = "article-webhook get $(cat job) $K --wait --html --output";
    stage.works("article-webhook order Shoes $K --json | cut -d'\"' -f4 >job");
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
        "article-webhook order Shoes $K --api-url $LOST",
        "error: the request may have been carried out, do not repeat it blindly: the connection to the service broke: error sending \
         request: client error (SendRequest): connection closed before message completed\n\
         fix:   look whether the article was ordered before you order it again; an order with --intent and --inbox is remembered",
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
