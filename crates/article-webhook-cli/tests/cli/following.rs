//! A list that is followed.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use article_webhook::fixture;
use article_webhook_inbox::Inbox;
use serde_json::Value;

use crate::{
    running::Running,
    sample,
    tool::{seen, text, tool},
};

#[tokio::test]
async fn what_is_new_or_changes_is_printed_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    sample::inbox(&file).await;
    let mut list = tool(["inbox", "list", text(&file), "--follow", "--search", "HOW TO", "--json"]);
    let list = list.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut list = Running(list);
    let mut begun = String::new();
    BufReader::new(list.0.stderr.take().unwrap()).read_line(&mut begun).unwrap();
    assert_eq!(begun, "Entries are printed that are new or change. Ctrl-C ends it.\n");
    let mut lines = BufReader::new(list.0.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();

    let requeue = tool(["inbox", "requeue", text(&file), "job_dead"]).output().unwrap();
    assert_eq!(seen(&requeue).0, Some(0));
    let line = next();
    assert_eq!((&line["job_id"], &line["state"]), (&"job_dead".into(), &"waiting".into()));

    let inbox = Inbox::open(&file).await.unwrap();
    sample::deliver(&inbox, fixture::minimal().job_id("job_short")).await;
    sample::deliver(&inbox, fixture::complete().job_id("job_new")).await;
    inbox.close().await.unwrap();
    let line = next();
    assert_eq!(line["job_id"], "job_new", "the title of the other is another");

    list.interrupt();
    assert_eq!(list.ended(), Some(0));
}
