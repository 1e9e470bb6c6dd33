//! What stands above the list, and what its buttons do.

use std::time::SystemTime;

use article_webhook::{Sink, fixture};
use article_webhook_inbox::{
    Digest, EntryKey, Failed, Filter, Inbox, Job, Source, SqliteStore, State,
    store::{Arrival, Expect, Quarantine, Store},
};

use crate::{
    client::{Answer, Visitor},
    sample,
    tool::has,
};

/// Eight entries are dead for one reason and one for another, and one is done. A worker still has the inbox.
async fn broken(file: &std::path::Path) -> Inbox {
    let inbox = Inbox::new(SqliteStore::open(file).unwrap());
    for number in 0..10 {
        let request = fixture::complete().job_id(&format!("job_{number}"));
        inbox.accept(request.delivery().unwrap()).await;
    }
    let publish = async |job: Job| match job.job_id().as_str() {
        "job_9" => Ok(()),
        "job_8" => Err(Failed::because("no such category")),
        job => Err(Failed::because(format!("{job}: HTTP 503"))),
    };
    inbox.worker(publish).attempts(1).run_until_idle().await.unwrap();
    inbox
}

/// The first view, once the hours are counted: a page does not wait for that.
async fn counted(visitor: &Visitor) -> Answer {
    loop {
        let list = visitor.get("/").await;
        if !list.text.contains("are being counted") {
            return list;
        }
    }
}

/// The action of the form of a group of causes.
fn action(list: &str, cause: &str) -> String {
    let actions = list.split("action=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let action = actions.into_iter().find(|action| action.contains(cause)).unwrap();
    action.replace("&amp;", "&")
}

#[tokio::test]
async fn causes_are_grouped_tried_and_requeued_and_what_becomes_of_them_is_shown() {
    let (_folder, file) = sample::place();
    let inbox = broken(&file).await;
    let (_page, visitor) = Visitor::at(&file).await;
    let first = counted(&visitor).await;
    let (list, token) = (&first.text, first.token());
    has(
        list,
        &[
            "<strong>9 dead</strong>",
            "<strong>10</strong> arrived in 24 hours",
            "<strong>9</strong> died in 24 hours",
            "Why 9 are dead",
            "#: HTTP 503</bdi></a><span class=\"quiet\">8 entries, first",
            "Requeue all 8</button>",
            "no such category</bdi></a><span class=\"quiet\">1 entry, ",
        ],
    );
    assert_eq!(list.matches(">Try five</button>").count(), 1, "of one entry, all are few");
    let group = visitor.get("/?state=dead&cause=%23%3A+HTTP+503").await.text;
    assert_eq!(group.matches("<tr id=\"entry-").count(), 8);
    assert!(!group.contains("Why 9 are dead"));

    let requeue = action(list, "HTTP+503");
    let own = [("sec-fetch-site", "same-origin")];
    let press = async |form: &str| {
        let path = visitor.below(&requeue);
        visitor.send(reqwest::Method::POST, path, &own, form).await
    };
    assert_eq!(press("token=0").await.status, 403);
    assert_eq!(press(&format!("token={token}&first=x")).await.status, 404);
    let answer = press(&format!("token={token}&first=5")).await;
    assert_eq!(answer.status, 303);
    let result = visitor.below(answer.header("location")).to_owned();
    assert!(result.starts_with("/?requeued=1"), "{result}");
    let shown = visitor.get(&result).await.text;
    has(&shown, &["Requeued: 5 entries", "<dt>waiting</dt><dd>5</dd>"]);
    assert_eq!(shown.matches("<tr id=\"entry-").count(), 5);

    let publish = async |job: Job| match job.job_id().as_str() {
        "job_0" => Err(Failed::because("HTTP 503 again")),
        _ => Ok(()),
    };
    inbox.worker(publish).attempts(1).run_until_idle().await.unwrap();
    let shown = visitor.get(&result).await.text;
    has(
        &shown,
        &[
            "<dt>published</dt><dd>4</dd>",
            "<dt>failed again</dt><dd>1</dd>",
            "<bdi>HTTP 503 again</bdi></span><span class=\"quiet\">1 entry dead",
            "data-state=\"done\" data-some",
        ],
    );
    let rest = async || {
        let answer = press(&format!("token={token}")).await;
        visitor.get(visitor.below(answer.header("location"))).await.text
    };
    has(&rest().await, &["Requeued: 3 entries"]);
    let dead = Filter { state: Some(State::Dead), ..Filter::default() };
    assert_eq!(inbox.list(dead).await.unwrap().items.len(), 2);
    has(&rest().await, &["Nothing was requeued"]);
    for state in ["", "?state=done", "?state=leased", "?state=waiting"] {
        assert_eq!(visitor.post(&format!("/requeue{state}"), &token).await.status, 404, "{state}");
    }
    inbox.close().await.unwrap();
}

#[tokio::test]
async fn where_all_is_well_there_are_the_charts_alone() {
    let (_folder, _page, visitor) = Visitor::after([]).await;
    let list = counted(&visitor).await.text;
    assert!(list.contains("<strong>0</strong> died in 24 hours"), "{list}");
    assert!(!list.contains("class=\"alarm\"") && !list.contains("Why "), "{list}");
}

#[tokio::test]
async fn what_is_in_quarantine_is_read_again_and_shown() {
    let (_folder, file) = sample::place();
    let store = SqliteStore::open(&file).unwrap();
    let readable = fixture::complete().job_id("job_1").bytes().clone();
    for (job, bytes) in [("job_1", readable), ("job_2", "{".into())] {
        let key = EntryKey::article(job.parse().unwrap());
        let (target, digest) = ("default".into(), Digest::of(&bytes));
        let arrival = Arrival { key, source: Source::Webhook, target, intent: None, digest, bytes };
        let expect = Some(Expect::job(job.parse().unwrap(), SystemTime::now()));
        let cause = "not read".to_owned();
        let quarantine = Quarantine { arrival, cause, expect, statement: None, budget: 1 << 20 };
        store.quarantine(quarantine).await.unwrap();
    }
    let (_page, visitor) = Visitor::at(&file).await;
    let list = visitor.get("/").await;
    has(&list.text, &["<strong>2 quarantined</strong>", "Read all 2 again</button>"]);
    let mut links = list.text.split("/entry/").map(|rest| rest.split('"').next().unwrap());
    let link = links.find(|link| link.starts_with("job%5F2/")).unwrap();
    let entry = visitor.get(&format!("/entry/{link}")).await;
    assert_eq!(entry.status, 200, "what is no JSON is shown as well");
    let path = action(&list.text, "not+read");
    let read_again = async || {
        let answer = visitor.post(visitor.below(&path), &list.token()).await;
        visitor.get(visitor.below(answer.header("location"))).await.text
    };
    let first = ["1 in quarantine could be read now", "<strong>1 quarantined</strong>"];
    has(&read_again().await, &[&first[..], &["How to Choose Running Shoes"]].concat());
    has(&read_again().await, &["cannot be read by this version either"]);
    store.close().await.unwrap();
}
