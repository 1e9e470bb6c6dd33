//! A list that is followed.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use article_webhook::fixture;
use article_webhook_inbox::Inbox;

use crate::{
    running::Running,
    sample,
    tool::{run, text, tool},
};

#[tokio::test]
async fn what_is_new_or_changes_is_printed_until_ctrl_c() {
    let (_folder, file) = sample::inbox().await;
    let mut list = tool(["inbox", "list", text(&file), "--follow", "--search", "HOW TO", "--json"]);
    let mut list = Running::of(list.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut begun = String::new();
    BufReader::new(list.process.stderr.take().unwrap()).read_line(&mut begun).unwrap();
    assert_eq!(begun, "Entries are printed that are new or change. Ctrl-C ends it.\n");

    assert_eq!(run(&["inbox", "requeue", text(&file), "job_dead"]).0, Some(0));
    let line = list.next();
    assert_eq!((&line["job_id"], &line["state"]), (&"job_dead".into(), &"waiting".into()));

    let inbox = Inbox::open(&file).await.unwrap();
    sample::deliver(&inbox, fixture::minimal().job_id("job_short")).await;
    sample::deliver(&inbox, fixture::complete().job_id("job_new")).await;
    inbox.close().await.unwrap();
    let line = list.next();
    assert_eq!(line["job_id"], "job_new", "the title of the other is another");

    list.interrupt();
    assert_eq!(list.ended(), Some(0));
}
