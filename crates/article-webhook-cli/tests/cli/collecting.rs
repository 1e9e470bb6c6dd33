//! What `collect` does beside a receiver.

use article_webhook_inbox::{Reason, SqliteStore, store::Store};

use crate::{
    sample,
    tool::{run_at, text},
};

#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn jobs_beside_a_receiver_stay_in_the_ledger_and_are_polled_after_it() {
    let (_folder, file) = sample::place();
    let service = sample::service().await;
    let job = service.order("Shoes").await.unwrap().job_id;
    let receiver = SqliteStore::open(&file).unwrap();
    let collect = |arguments: &[&str]| {
        let collect = ["collect", "--inbox", text(&file)];
        let (exit, out, note) = run_at(&service.base_url(), &[&collect, arguments].concat());
        assert_eq!(exit, Some(0), "{note}");
        (out, note)
    };
    let left = "1 job is in the ledger. Another process works on the inbox: its collector polls it, if it has one\n";
    let why = "`listen` has one if it was started with the URL and the key of the service\n";
    assert_eq!(collect(&[&job, &job]), (left.to_owned(), why.to_owned()));
    assert!(collect(&["--json"]).0.ends_with(",\"stored\":1}\n"));
    // Of many that are named, each has its time.
    let stored = receiver.job(job.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(stored.reason, Reason::Backfill);
    receiver.close().await.unwrap();
    let (out, _) = collect(&["--json"]);
    assert!(out.ends_with(&format!("\"job_id\":\"{job}\",\"state\":\"collected\"}}\n")), "{out}");
}

/// A person does not wait for the schedule.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_named_is_polled_now_although_it_is_due_later() {
    let (_folder, file) = sample::place();
    let service = sample::service().await;
    let job = service.order("Shoes").await.unwrap().job_id;
    SqliteStore::open(&file).unwrap().close().await.unwrap();
    let collect = |url: &str, arguments: &[&str]| {
        run_at(url, &[&["collect", "--inbox", text(&file)], arguments].concat())
    };
    // Nothing listens there.
    let (exit, _, note) = collect("http://127.0.0.1:1", &[&job]);
    assert!(exit == Some(1) && note.contains("have no article yet"), "{note}");
    let (exit, _, note) = collect(&service.base_url(), &[]);
    assert!(exit == Some(3) && note.contains("the next is due"), "{note}");
    let (exit, out, note) = collect(&service.base_url(), &[&job]);
    assert!(exit == Some(0) && out.contains("collected"), "{out}{note}");
}
