//! What the tool reads and writes.

use article_webhook::fixture;
use article_webhook_inbox::Inbox;

use crate::{sample, stage::Stage};

#[test]
fn a_copy_is_made_beside_the_receiver_of_the_other_inbox_once_none_works_on_this_one() {
    let stage = Stage::new();
    let receiver = stage.runtime.block_on(Inbox::open(stage.path("inbox.db"))).unwrap();
    let other = stage.runtime.block_on(Inbox::open(stage.path("to.db"))).unwrap();
    stage.refuses(
        "article-webhook inbox copy inbox.db to.db",
        "error: a receiver works on inbox.db\nfix:   stop the receiver first: what it stores meanwhile might not be copied",
    );
    stage.runtime.block_on(receiver.close()).unwrap();
    drop(receiver);
    stage.works("article-webhook inbox copy inbox.db to.db");
    assert_eq!(stage.runtime.block_on(other.counts()).unwrap().total(), 5);
}

/// A limit of files ends a write as a full disk does.
#[test]
fn an_export_without_room_is_made_again_with_room() {
    let stage = Stage::new();
    stage.runtime.block_on(async {
        let inbox = Inbox::open(stage.path("large.db")).await.unwrap();
        let request = fixture::minimal().job_id("job_large").html(&"x".repeat(400_000));
        sample::deliver(&inbox, request).await;
        inbox.close().await.unwrap();
    });
    let export = "article-webhook inbox export large.db --output lines";
    stage.follow(
        &format!("trap '' XFSZ; ulimit -f 256; {export} 2>&1 | sed 's/ at path.*//' >&2; exit 1"),
        "error: lines cannot be written: File too large (os error 27)\n\
         fix:   make room on the disk, or name a file on another one",
        &["test ! -e lines", export],
    );
}

#[test]
fn a_copy_of_a_file_in_use_is_completed_and_a_backup_needs_nothing_more() {
    let stage = Stage::new();
    let job = stage.works("article-webhook order Shoes $K --json | cut -d'\"' -f12");
    let job = job.trim();
    stage.runtime.block_on(async {
        let receiver = Inbox::open(stage.path("inbox.db")).await.unwrap();
        sample::deliver(&receiver, fixture::complete().job_id(job)).await;
        stage.works("cp inbox.db used.db; article-webhook inbox backup inbox.db copy.db");
        receiver.close().await.unwrap();
    });
    let says = "the backup is a copy of a file in use, and lacks what was in its log: use `article-webhook inbox backup`, and fetch the \
        jobs of that time from the API\n";
    let (_, used, _) = stage.ended("article-webhook inbox restore used.db old.db");
    assert!(used.contains(says), "{used}");
    stage.works(&format!("article-webhook collect --inbox old.db $K {job}"));
    let (_, made, _) = stage.ended("article-webhook inbox restore copy.db new.db");
    assert!(made.contains("the old file is missing") && !made.contains("in use"), "{made}");
    for inbox in ["old.db", "new.db"] {
        stage.works(&format!("article-webhook inbox status {inbox} --json | grep '\"total\":6'"));
    }
}
