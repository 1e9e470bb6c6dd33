//! Rows that another program has changed, or a disk. Each costs itself alone.

use std::time::{Duration, SystemTime};

use article_webhook::{Reply, Sink as _, fixture};
use article_webhook_inbox::{
    Filter, Inbox, JobState, State,
    store::{BucketSettings, Expect, Outcome, PollClaim, Recorded, Settled, Store},
};

use crate::{CLAIM, Scene, arrival, record_each, scene::wait};

const POLL_CLAIM: PollClaim = PollClaim {
    limit: 10,
    lease: Duration::from_secs(60),
    bucket: BucketSettings { per_minute: 600, burst: 100, key: 1 },
};

fn expected(job: &str) -> Expect {
    Expect::job(job.parse().unwrap(), SystemTime::now() - Duration::from_secs(600))
}

#[test]
fn a_damaged_entry_is_set_aside_and_the_others_are_claimed() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async move {
        record_each(&store, &["job_1", "job_2", "job_3", "job_4", "job_5", "job_6"]).await;
        store.expect(vec![expected("job_1")]).await.unwrap();
        for (damage, job) in [
            ("document = 'not a document'", "job_1"),
            ("attempts = -1", "job_2"),
            ("received_at = 1", "job_3"),
            ("job_id = 'a job'", "job_4"),
        ] {
            let entries = "UPDATE S.article_inbox_entries";
            scene.run(&format!("{entries} SET {damage} WHERE job_id = '{job}'"));
        }
        assert_eq!(store.check().await.unwrap().len(), 3, "one has no name");

        let claims = store.claim(CLAIM).await.unwrap();
        let claimed: Vec<_> =
            claims.claimed.iter().map(|entry| entry.key.job_id.as_str()).collect();
        assert_eq!(claimed, ["job_5", "job_6"]);
        for claimed in &claims.claimed {
            assert_eq!(claimed.bodies[0].bytes.as_deref(), Some(&b"{}"[..]));
            assert_eq!(store.settle(claimed.lease, Outcome::Done).await.unwrap(), Settled::Settled);
        }
        assert!(store.claim(CLAIM).await.unwrap().claimed.is_empty());
        let counts = store.counts().await.unwrap();
        assert_eq!((counts.of(State::Corrupt), counts.of(State::Waiting)), (4, 0));

        // Each was reported once.
        let findings = store.health().await.unwrap().findings;
        let reported =
            |about: &str| findings.iter().filter(|finding| finding.contains(about)).count();
        for about in [
            "of job_1: its checksum does not match",
            "of job_2: its number of attempts or its fence is damaged",
            "of job_3: its checksum does not match",
            "4 is corrupt: its job id is damaged",
        ] {
            assert_eq!(reported(about), 1, "{about}: {findings:?}");
        }

        // Its job is expected again, and its next delivery repairs it.
        let job = || "job_1".parse().unwrap();
        assert_eq!(store.job(job()).await.unwrap().unwrap().state, JobState::Expected);
        let recorded = store.record(arrival("job_1", "{}")).await.unwrap();
        assert!(matches!(recorded, Recorded::Arrived { .. }), "{recorded:?}");
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed[0].key.job_id, job());
    });
}

#[test]
fn a_body_whose_document_is_damaged_costs_itself_alone() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async move {
        let inbox = Inbox::new(store.clone());
        let deliver = async |job: u8| {
            let delivery = fixture::complete().job_id(&format!("job_{job}"));
            inbox.accept(delivery.delivery().unwrap()).await
        };
        for job in 1..=4 {
            assert_eq!(deliver(job).await, Reply::Stored);
        }
        for (job, document) in [(1, "no document"), (2, "{}")] {
            scene.run(&format!(
                "UPDATE S.article_inbox_bodies SET document = '{document}' WHERE entry = \
                 (SELECT id FROM S.article_inbox_entries WHERE job_id = 'job_{job}')"
            ));
        }
        assert_eq!(store.check().await.unwrap().len(), 2);
        assert_eq!(store.list(Filter::default()).await.unwrap().items.len(), 4);

        inbox.worker(async |_| Ok(())).run_until_idle().await.unwrap();
        let counts = store.counts().await.unwrap();
        assert_eq!((counts.of(State::Done), counts.of(State::Corrupt)), (2, 2));

        // The next deliveries bring them again.
        for (job, reply) in [(1, Reply::Stored), (2, Reply::Stored), (3, Reply::Duplicate)] {
            assert_eq!(deliver(job).await, reply);
        }
        inbox.worker(async |_| Ok(())).run_until_idle().await.unwrap();
        assert_eq!(store.counts().await.unwrap().of(State::Done), 4);
    });
}

#[test]
fn a_damaged_job_of_the_ledger_keeps_no_other_from_being_polled() {
    let Some((scene, store)) = Scene::opened() else { return };
    wait(async move {
        store.expect((1..=3).map(|job| expected(&format!("job_{job}"))).collect()).await.unwrap();
        scene.run(
            "UPDATE S.article_inbox_jobs SET document = 'no document' WHERE job_id = 'job_1'; \
             UPDATE S.article_inbox_bucket SET value = 'no bucket'",
        );

        // The bucket starts again without tokens, and three come back within 0.3 seconds.
        let mut polls = store.claim_polls(POLL_CLAIM).await.unwrap().polls;
        assert!(polls.is_empty());
        while polls.len() < 3 {
            polls.extend(store.claim_polls(POLL_CLAIM).await.unwrap().polls);
        }
        let polled: Vec<_> = polls.iter().map(|poll| poll.job.job_id.as_str()).collect();
        assert_eq!(polled, ["job_1", "job_2", "job_3"]);
        let findings = store.health().await.unwrap().findings;
        assert!(findings.iter().any(|finding| finding.contains("the job job_1 of the ledger")));

        // A delivery needs nothing of a damaged job but its name.
        scene.run("UPDATE S.article_inbox_jobs SET polls = -1 WHERE job_id = 'job_3'");
        let recorded = store.record(arrival("job_3", "{}")).await.unwrap();
        assert!(matches!(recorded, Recorded::Arrived { .. }), "{recorded:?}");
        let job = store.job("job_3".parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(job.state, JobState::Arrived);
    });
}
