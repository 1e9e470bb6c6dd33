//! A job and its article, stored at once by two nodes of which neither sees what the other has not committed.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    JobState, State,
    store::{Expect, Store as _},
};
use article_webhook_postgres::PostgresStore;

use crate::{arrival, fresh, scene, scene::wait, schema, server::shared_url};

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

/// Which call begins first, and waits for the other program.
#[derive(PartialEq)]
enum First {
    Expect,
    Record,
}

fn at_once(first: First, isolation: &str) {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&format!("{url}?options=-cdefault_transaction_isolation%3D{isolation}"));
    let schema = schema(&settings);
    wait(async move {
        let stores = [
            Arc::new(PostgresStore::connect(settings.clone()).await.unwrap()),
            Arc::new(PostgresStore::connect(settings).await.unwrap()),
        ];
        let mut application = scene::connect(&url).await;
        application.batch_execute(&format!("SET search_path = {schema}")).await.unwrap();
        let holder = application.transaction().await.unwrap();
        let added = if first == First::Expect { JOB } else { ENTRY };
        holder.batch_execute(added).await.unwrap();

        let [expecting, recording] = stores.clone();
        let expect = async move {
            expecting.expect(vec![Expect::job(job(), SystemTime::now())]).await.map(drop)
        };
        let record = async move { recording.record(arrival("job_1", "{}")).await.map(drop) };
        let pause = || tokio::time::sleep(Duration::from_millis(300));
        let calls = if first == First::Expect {
            let expect = tokio::spawn(expect);
            pause().await;
            [expect, tokio::spawn(record)]
        } else {
            let record = tokio::spawn(record);
            pause().await;
            [record, tokio::spawn(expect)]
        };
        pause().await;
        holder.rollback().await.unwrap();
        for call in calls {
            call.await.unwrap().unwrap();
        }
        let job = stores[0].job(job()).await.unwrap().unwrap();
        assert_eq!(job.state, JobState::Arrived);
        assert_eq!(stores[0].counts().await.unwrap().of(State::Waiting), 1);
    });
}

#[test]
fn an_article_that_comes_while_its_job_is_added_ends_the_job() {
    for isolation in ISOLATIONS {
        at_once(First::Expect, isolation);
    }
}

#[test]
fn a_job_that_is_added_while_its_article_comes_has_ended() {
    for isolation in ISOLATIONS {
        at_once(First::Record, isolation);
    }
}
