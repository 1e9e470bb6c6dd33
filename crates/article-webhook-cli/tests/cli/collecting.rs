//! What `collect` says of jobs that it does not poll.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    SqliteStore,
    store::{BucketEvent, Expect, Store},
};

use crate::{
    sample,
    tool::{seen, text, tool},
};

fn collect(inbox: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut collect = tool(["collect", "--inbox", text(inbox)]);
    seen(&collect.env("ARTICLE_API_KEY", "sk-simulator").args(arguments).output().unwrap())
}

#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn jobs_beside_a_receiver_stay_in_the_ledger_and_are_polled_after_it() {
    let (_folder, file) = sample::place();
    let service = sample::service().await;
    let url = service.base_url();
    let job = service.order("Shoes").await.unwrap().job_id;
    let receiver = SqliteStore::open(&file).unwrap();

    let (exit, out, note) = collect(&file, &[&job, &job, "--api-url", &url]);
    let left = "1 job is in the ledger. Another process works on the inbox: its collector polls it, if it has one\n";
    assert_eq!((exit, &*out), (Some(0), left), "{note}");
    assert_eq!(
        note,
        "`listen` has one if it was started with the URL and the key of the service\n"
    );
    let again = ["--api-url", &url, "--json"];
    assert!(collect(&file, &again).1.ends_with(",\"stored\":1}\n"));

    receiver.close().await.unwrap();
    let (exit, out, note) = collect(&file, &again);
    assert_eq!(exit, Some(0), "{note}");
    assert!(out.ends_with(&format!("\"job_id\":\"{job}\",\"state\":\"collected\"}}\n")), "{out}");
}

#[tokio::test]
async fn the_time_at_which_the_next_job_is_due_is_shown() {
    let (_folder, file) = sample::inbox().await;
    let (exit, _, error) = collect(&file, &[]);
    assert_eq!(exit, Some(3), "{error}");
    assert!(error.contains("fix:   name a job to poll it: article-webhook collect"), "{error}");

    let store = SqliteStore::open(&file).unwrap();
    let jobs = [("job_2", 900), ("job_1", 630)].map(|(job, seconds)| {
        Expect::job(job.parse().unwrap(), SystemTime::now() + Duration::from_secs(seconds))
    });
    store.expect(jobs.into()).await.unwrap();
    store.close().await.unwrap();
    let (exit, _, error) = collect(&file, &[]);
    assert_eq!(exit, Some(3), "{error}");
    let what =
        "error: the ledger has no job that is to be polled now; the next is due in 10 min, at 2";
    assert!(error.starts_with(what), "{error}");
    assert!(error.contains("to read an article before: article-webhook get --wait JOB"), "{error}");
}

/// The service may ask for a pause of any length, and only a person may end it before.
#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn a_pause_is_reported_with_what_lifts_it() {
    let (_folder, file) = sample::place();
    let store = SqliteStore::open(&file).unwrap();
    let service = sample::service().await;
    let url = service.base_url();
    let job = service.order("Shoes").await.unwrap().job_id;
    let century = Duration::from_secs(100 * 365 * 86_400);
    store.intend("post-17", Duration::from_secs(60), sample::BUCKET.key, None).await.unwrap();
    store.report(BucketEvent::RateLimited { retry_after: century }).await.unwrap();
    store.close().await.unwrap();

    let api = ["--api-url", &url];
    let (exit, _, error) = collect(&file, &[&job, api[0], api[1]]);
    assert_eq!(exit, Some(1), "{error}");
    let [what, fix] = [
        "error: the service asked for a pause (rate limited), until 21",
        "fix:   repeat the command after that, or with --resume to poll now; the jobs stay in the ledger",
    ];
    assert!(error.contains(what) && error.contains(fix), "{error}");
    let (exit, _, note) = collect(&file, &["--dry-run"]);
    assert_eq!((exit, note.contains("; --resume lifts it\n")), (Some(0), true), "{note}");

    let (exit, out, note) = collect(&file, &["--resume", "--json", api[0], api[1]]);
    assert_eq!(exit, Some(0), "{note}");
    assert!(note.starts_with("lifted: the service asked for a pause (rate limited)"), "{note}");
    assert!(out.ends_with(&format!("\"job_id\":\"{job}\",\"state\":\"collected\"}}\n")), "{out}");
}
