//! Calls that only read.

use std::time::Duration;

use article_webhook_inbox::{
    CauseCount, Counts, Failure, Filter, HourCount, ListOrder, MAX_FAILURES_PER_ENTRY, Prune,
    Source, State,
    store::{Arrival, Claim, Claimed, Outcome},
};

use crate::{
    Subject, Trial,
    trial::{CLAIM, FIRST, STATES, arrival, job, key, retry, update},
};

/// Each entry is counted in the state it is in, and listed as it is shown.
pub async fn entries_are_counted_by_state(trial: Trial<dyn Subject>) {
    trial.put("dead_too", State::Dead).await;
    for state in STATES {
        trial.put(state.as_str(), state).await;
    }
    let expected =
        Counts::from_iter(STATES.into_iter().chain([State::Dead]).map(|state| (state, 1)));
    assert_eq!(trial.store().counts().await.unwrap(), expected);
    assert_eq!(expected.total(), 7);
    for entry in trial.all().await {
        assert_eq!(trial.entry(entry.key.job_id.as_str()).await, entry, "as it is listed");
    }
}

/// The store knows since when the oldest due entry has been due. One that waits for a later time is not due before that time, and a
/// leased one not until its lease has ended.
pub async fn the_longest_wait_is_known(mut trial: Trial<dyn Subject>) {
    let store = trial.store();
    let due_since = async || store.due_since().await.unwrap();
    trial.worked("job_1", retry(30)).await;
    assert_eq!(due_since().await, None);
    trial.advance(30);
    let since = trial.now();
    assert_eq!(due_since().await, Some(since));
    trial.advance(10);
    trial.record("job_2", FIRST).await;
    assert_eq!(due_since().await, Some(since));
    trial.claim().await;
    let ends = trial.now() + CLAIM.lease;
    trial.advance_by(CLAIM.lease - Duration::from_millis(1));
    assert_eq!(due_since().await, None);
    trial.advance(1);
    trial.record("job_3", FIRST).await;
    assert_eq!(due_since().await, Some(ends));
}

/// An entry shows when it entered its state: a wait began before the entry is due, and a lease before it ends.
pub async fn an_entry_shows_since_when_it_is_in_its_state(mut trial: Trial<dyn Subject>) {
    let mut lease = trial.leased("job_1").await;
    assert_eq!(trial.entry("job_1").await.since, trial.now());
    for outcome in [retry(5), Outcome::Snoozed { after: Duration::from_secs(5) }] {
        trial.advance(1);
        trial.settle(lease, outcome).await;
        let (since, waits) = (trial.now(), trial.entry("job_1").await);
        assert_eq!((waits.since, waits.at), (since, since + Duration::from_secs(5)));
        trial.advance(5);
        lease = trial.lease("job_1").await;
        assert_eq!(trial.entry("job_1").await.since, trial.now());
        trial.advance(1);
        trial.store().extend(&[lease], CLAIM.lease).await.unwrap();
        let leased = trial.entry("job_1").await;
        assert_eq!(
            (leased.since, leased.at),
            (since + Duration::from_secs(5), trial.now() + CLAIM.lease)
        );
    }
    trial.settle(lease, Outcome::Done).await;
    let done = trial.now();
    trial.advance(1);
    trial.record("job_1", "[]").await;
    assert_eq!(trial.entry("job_1").await.since, done, "another body changes no state");
}

/// An entry shows its last failures, the oldest first, each with its time and the attempts until then.
pub async fn an_entry_shows_its_last_failures(mut trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    let mut failures = Vec::new();
    for attempt in (1..).take(MAX_FAILURES_PER_ENTRY + 1) {
        let claim = Claim { attempts: u32::MAX, ..CLAIM };
        let lease = trial.store().claim(claim).await.unwrap().claimed[0].lease;
        trial.advance(1);
        let cause = format!("\"no network\" in attempt {attempt}: Fehler 1 µs");
        failures.push(Failure::new(trial.now(), attempt, cause.clone()));
        trial.settle(lease, Outcome::Retry { after: Duration::ZERO, cause }).await;
    }
    let entry = trial.entry("job_1").await;
    assert_eq!(entry.failures, failures[1..]);
    assert_eq!(entry.cause.as_deref(), failures.last().map(|last| &*last.cause));
    assert_eq!(trial.all().await, [entry]);
}

/// All entries, page by page, the oldest or the newest first. A newer entry that arrives meanwhile moves none to another page, and a
/// full page may be the last.
pub async fn pages_follow_each_other_in_both_orders(trial: Trial<dyn Subject>) {
    for id in ["c", "a", "e", "b", "d"] {
        trial.record(id, FIRST).await;
    }
    for (order, limit, expected) in [
        (ListOrder::OldestFirst, 2, (vec![2, 2, 1], "caebd")),
        (ListOrder::OldestFirst, 5, (vec![5], "caebd")),
        (ListOrder::NewestFirst, 2, (vec![2, 2, 1], "dbeac")),
    ] {
        let (mut after, mut sizes, mut jobs) = (Some(0), Vec::new(), String::new());
        while let Some(from) = after {
            let filter = Filter { after: from, limit, order, ..Filter::default() };
            let page = trial.store().list(filter).await.unwrap();
            sizes.push(page.items.len());
            jobs.extend(page.items.iter().map(|entry| entry.key.job_id.as_str()));
            after = page.next;
            if order == ListOrder::NewestFirst {
                trial.record(&format!("later_{}", sizes.len()), FIRST).await;
            }
        }
        assert_eq!((sizes, &*jobs), expected, "{order:?}");
    }
}

/// By state, job, event, target or age, a filter lists the entries of that alone.
pub async fn a_list_is_filtered(mut trial: Trial<dyn Subject>) {
    for state in STATES {
        trial.put(state.as_str(), state).await;
    }
    trial.leave("waiting").await;
    for key in [key("job_1"), update("job_1"), key("job_2"), update("job_2")] {
        trial.record_as(key, FIRST).await;
    }
    for (id, target) in [("a", "blog"), ("b", "shop"), ("c", "blog"), ("d", "blog")] {
        trial.advance(1);
        let arrival = Arrival { target: target.into(), ..arrival(id, FIRST) };
        trial.store().record(arrival).await.unwrap();
    }
    // The target of a later body does not matter.
    trial.store().record(Arrival { target: "blog".into(), ..arrival("b", "[]") }).await.unwrap();
    trial.leave("c").await;
    let all = Filter::default();
    let of_state = |state| Filter { state: Some(state), ..Filter::default() };
    let of_job = |id| Filter { job_id: Some(job(id)), ..Filter::default() };
    let of_event = Filter { event: Some("article.updated".into()), ..all.clone() };
    let of_target = |target: &str| Filter { target: Some(target.into()), ..Filter::default() };
    let third = trial.now() - Duration::from_secs(1);
    let received_before = Some(third + Duration::from_nanos(999_999));
    for (filter, expected) in [
        (of_state(State::Leased), "leased"),
        (of_state(State::Done), "done"),
        (of_state(State::Dead), "dead waiting c"),
        (of_state(State::Unhandled), "unhandled"),
        (of_state(State::Corrupt), "corrupt"),
        (of_job("job_1"), "job_1 job_1"),
        (of_event.clone(), "job_1 job_2"),
        (Filter { event: of_event.event, ..of_job("job_1") }, "job_1"),
        (of_job("job_3"), ""),
        (of_target("blog"), "a c d"),
        (of_target("other"), ""),
        (Filter { received_before, ..of_target("blog") }, "a"),
        (Filter { state: Some(State::Waiting), ..of_target("blog") }, "a d"),
        (Filter { state: Some(State::Dead), ..of_target("blog") }, "c"),
        (Filter { job_id: Some(job("b")), ..of_target("blog") }, ""),
        (
            Filter { received_before, received_since: Some(third - Duration::from_secs(1)), ..all },
            "b",
        ),
    ] {
        assert_eq!(listed(&trial, filter.clone()).await, expected, "{filter:?}");
    }
}

/// A body with a title, as it stands in JSON.
fn titled(title: &str) -> String {
    format!(r#"{{"job_id":"job_1","article":{{"title":"{title}"}}}}"#)
}

/// An entry shows the title of the first body that has one and that outranks the others, and what its first body is.
pub async fn an_entry_shows_its_title_and_its_first_body(trial: Trial<dyn Subject>) {
    let polled = Arrival { source: Source::Api, ..arrival("job_1", FIRST) };
    trial.store().record(polled).await.unwrap();
    let entry = trial.entry("job_1").await;
    let first = (Source::Api, Some(FIRST.len() as u64));
    assert_eq!((entry.source, entry.length, entry.title), (first.0, first.1, None));
    for title in [r" A\u0000é ", "B"] {
        trial.record("job_1", &titled(title)).await;
    }
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.source, entry.length), first);
    assert_eq!(entry.title.as_deref(), Some("A\0é"));
    assert_eq!(trial.all().await, [entry]);

    trial.work("job_1", Outcome::Done).await;
    let bodies_before = trial.now() + Duration::from_secs(1);
    let prune = Prune { bodies_before, ..Prune::default() };
    assert_eq!(trial.store().prune(prune).await.unwrap().bodies, 3);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.length, entry.title), (None, None), "what is removed is not shown");
}

/// The jobs of the entries that a filter lists, the same in both orders.
async fn listed(trial: &Trial<dyn Subject>, filter: Filter) -> String {
    let oldest = trial.store().list(filter.clone()).await.unwrap();
    let newest = Filter { order: ListOrder::NewestFirst, ..filter.clone() };
    let mut newest = trial.store().list(newest).await.unwrap().items;
    newest.reverse();
    assert_eq!((&oldest.items, oldest.next), (&newest, None), "{filter:?}");
    assert!(newest.iter().all(|entry| filter.accepts(entry)), "{filter:?}");
    let jobs: Vec<_> = newest.iter().map(|entry| entry.key.job_id.as_str()).collect();
    jobs.join(" ")
}

/// A list is searched for a part of a job id, of a title and of a cause, in upper or lower case.
pub async fn a_list_is_searched(trial: Trial<dyn Subject>) {
    trial.record("Job_A", &titled(r"Ärger\u0000 100%")).await;
    trial.record("job_b", FIRST).await;
    let claimed = trial.claim().await.claimed;
    for claimed in claimed {
        let cause = format!("{}: No\0 Network", claimed.key.job_id);
        trial.settle(claimed.lease, Outcome::Retry { after: Duration::ZERO, cause }).await;
    }
    let found = async |search: &str| {
        let filter = Filter { search: Some(search.into()), ..Filter::default() };
        listed(&trial, filter).await
    };
    for (search, expected) in [
        ("job_a", "Job_A"),
        ("JOB_", "Job_A job_b"),
        ("ärg", "Job_A"),
        ("ÄRGER\0", "Job_A"),
        ("100%", "Job_A"),
        ("1_0", ""),
        ("job_b: no\0 network", "job_b"),
        ("absent", ""),
        ("", "Job_A job_b"),
    ] {
        assert_eq!(found(search).await, expected, "{search:?}");
    }
    let claimed = trial.claim().await.claimed;
    let second = claimed.iter().find(|claimed| claimed.key == key("job_b")).unwrap();
    trial.settle(second.lease, Outcome::Done).await;
    assert_eq!(found("network").await, "Job_A", "what is done has no cause");
}

pub async fn a_list_is_filtered_by_group_of_causes(mut trial: Trial<dyn Subject>) {
    for (id, cause) in
        [("a", "timed out after 31 s"), ("b", "no network"), ("c", "timed out after 4 s")]
    {
        trial.worked(id, Outcome::Dead { cause: cause.into() }).await;
        trial.advance(1);
    }
    let of = |cause: &str| Filter { cause: Some(cause.into()), ..Filter::default() };
    assert_eq!(listed(&trial, of("timed out after # s")).await, "a c");
    assert_eq!(listed(&trial, of("no network")).await, "b");
    assert_eq!(listed(&trial, of("timed out after 31 s")).await, "", "it is no group");
    let received_since = Some(trial.entry("b").await.received_at);
    let recent = Filter { received_since, ..of("timed out after # s") };
    assert_eq!(listed(&trial, recent).await, "c");
}

/// Causes are counted by state and group, the largest first. What was requeued is followed by the time of it.
pub async fn causes_are_counted_and_followed_over_a_requeue(mut trial: Trial<dyn Subject>) {
    let cause = |cause: &str| Outcome::Dead { cause: cause.into() };
    for (id, why) in [("a", "no network"), ("b", "after 1 s"), ("c", "after 2 s")] {
        let lease = trial.leased(id).await;
        trial.settle(lease, cause(why)).await;
        trial.advance(1);
    }
    trial.put("corrupt", State::Corrupt).await;
    trial.put("done", State::Done).await;
    let seen = async |at| {
        let causes = trial.store().causes(at).await.unwrap().into_iter();
        let short = |it: CauseCount| (it.state, it.cause.map(String::from), it.count);
        causes.map(short).collect::<Vec<_>>()
    };
    let causes = seen(None).await;
    assert_eq!(causes[0], (State::Dead, Some("after # s".into()), 2));
    assert_eq!(causes[1], (State::Dead, Some("no network".into()), 1));
    assert_eq!((causes[2].0, causes.len()), (State::Corrupt, 3));
    let group = trial.store().causes(None).await.unwrap().remove(0);
    let (first, last) = (trial.entry("b").await.since, trial.entry("c").await.since);
    assert_eq!((group.first, group.last), (first, last));

    let at = trial.now();
    assert!(seen(Some(at)).await.is_empty());
    let both = vec![(key("b"), None), (key("c"), None), (key("absent"), None)];
    assert_eq!(trial.store().requeue(both, at).await.unwrap(), [true, true, false]);
    assert_eq!(seen(Some(at)).await, [(State::Waiting, None, 2)]);
    let claimed = trial.claim().await.claimed;
    for Claimed { key, lease, .. } in claimed {
        let is_first = key.job_id.as_str() == "b";
        trial.settle(lease, if is_first { Outcome::Done } else { cause("after 3 s") }).await;
    }
    let mut became = seen(Some(at)).await;
    became.sort_unstable();
    assert_eq!(became, [(State::Done, None, 1), (State::Dead, Some("after # s".into()), 1)]);
    let again = Filter { requeued_at: Some(at), ..Filter::default() };
    assert_eq!(listed(&trial, again).await, "b c");
    assert_eq!(trial.entry("c").await.requeued_at, Some(at));
}

pub async fn hours_count_what_arrived_and_what_died(mut trial: Trial<dyn Subject>) {
    trial.put("early", State::Dead).await;
    trial.advance(7_200);
    let since = trial.now();
    assert!(trial.store().hours(since).await.unwrap().is_empty());
    trial.put("a", State::Dead).await;
    trial.record("b", FIRST).await;
    trial.advance(3_600);
    trial.record("c", FIRST).await;
    let hours = trial.store().hours(since).await.unwrap();
    let counts: Vec<_> = hours.iter().map(|hour| (hour.arrived, hour.died)).collect();
    assert_eq!(counts, [(2, 1), (1, 0)]);
    assert_eq!(hours[1].hour.duration_since(hours[0].hour).unwrap(), HourCount::LENGTH);
    assert!(hours[0].hour <= since && since < hours[1].hour);
}
