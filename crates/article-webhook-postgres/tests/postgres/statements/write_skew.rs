//! A job and its article, stored at once by two nodes of which neither sees what the other has not committed.

use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{
    JobState, State,
    store::{Expect, Store as _},
};
use futures_util::FutureExt as _;

use crate::{Scene, arrival, scene::wait, server::shared_url};

/// What another program has added and takes back. A call that adds the same waits for it.
const JOB: &str = "INSERT INTO article_inbox_jobs (job_id, state, expected_at, at, polls, fence, document, checksum) \
    VALUES ('job_1', 'expected', 0, 0, 0, 0, '', 0)";
const ENTRY: &str = "INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, \
    held, target, document, checksum) VALUES ('job_1', 'article.complete', 'waiting', 0, 0, 0, 0, 0, 0, 0, '', '', 0)";

/// Two defaults of a role: that of PostgreSQL, and one under which a statement sees nothing that was committed after it began.
const ISOLATIONS: [&str; 2] = ["read%5C%20committed", "serializable"];

fn job() -> JobId {
    "job_1".parse().unwrap()
}

/// The call that would add the same as another program begins first, and waits for that.
fn at_once(added: &'static str, isolation: &str) {
    let Some(url) = shared_url() else { return };
    let scene = Scene::on(&format!("{url}?options=-cdefault_transaction_isolation%3D{isolation}"));
    let stores = [scene.store(), scene.store()];
    wait(async move {
        let mut application = scene.client().await;
        let holder = application.transaction().await.unwrap();
        holder.batch_execute(added).await.unwrap();

        let [expecting, recording] = stores.clone();
        let expect = async move {
            expecting.expect(vec![Expect::job(job(), SystemTime::now())]).await.map(drop)
        };
        let record = async move { recording.record(arrival("job_1", "{}")).await.map(drop) };
        let mut calls = [expect.boxed(), record.boxed()];
        if added == ENTRY {
            calls.reverse();
        }
        let mut answers = Vec::new();
        for call in calls {
            answers.push(tokio::spawn(call));
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        holder.rollback().await.unwrap();
        for answer in answers {
            answer.await.unwrap().unwrap();
        }
        let job = stores[0].job(job()).await.unwrap().unwrap();
        assert_eq!(job.state, JobState::Arrived);
        assert_eq!(stores[0].counts().await.unwrap().of(State::Waiting), 1);
    });
}

#[test]
fn a_job_has_ended_whether_it_is_added_while_its_article_comes_or_before() {
    for added in [JOB, ENTRY] {
        for isolation in ISOLATIONS {
            at_once(added, isolation);
        }
    }
}
