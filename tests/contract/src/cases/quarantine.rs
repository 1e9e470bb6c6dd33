//! Bodies of refused deliveries.

use std::time::SystemTime;

use article_webhook_inbox::{
    Entry, JobState, Prune, Source, State,
    store::{
        Arrival, Expect, Export, ExportLine, Merge, Outcome, Quarantine, Quarantined, Recorded,
    },
};

use crate::{
    Subject, Trial,
    lines::{entry_line, job_line},
    trial::{FIRST, arrival, bytes, changed, job, key, unhandled, update},
};

/// What a body takes of the budget at least.
const MIN_COST: u64 = 64 << 10;

const CAUSE: &str = "a key twice at article.title";

/// The article of `job_1`.
const ARTICLE: &str =
    r#"{"job_id": "job_1", "status": "complete", "article": {"title": "A", "html": ""}}"#;

fn quarantine(body: &str, now: SystemTime) -> Quarantine {
    let expect = Some(Expect::job(job("job_1"), now));
    let (arrival, cause) = (arrival("job_1", body), CAUSE.to_owned());
    Quarantine { arrival, cause, expect, statement: None, budget: 256 << 20 }
}

impl<S: Subject + ?Sized> Trial<S> {
    async fn quarantine(&self, body: &str) -> Quarantined {
        self.store().quarantine(quarantine(body, self.now())).await.unwrap()
    }

    /// The quarantine of `job_1`, with the bodies that are kept.
    async fn kept(&self) -> Option<(Entry, Vec<String>)> {
        let (entry, bodies) = self.store().show(key("job_1").quarantine()).await.unwrap()?;
        let texts = bodies.into_iter().map(|body| {
            assert!(body.is_intact());
            String::from_utf8(body.bytes.unwrap().to_vec()).unwrap()
        });
        Some((entry, texts.collect()))
    }

    async fn state_of_job(&self) -> Option<JobState> {
        self.store().job(job("job_1")).await.unwrap().map(|job| job.state)
    }
}

/// Nothing is thrown away: the body of a refused delivery is kept as it came, with its reason, and its job is expected. No
/// worker gets it.
pub async fn a_refused_body_is_kept_and_its_job_is_expected(mut trial: Trial<dyn Subject>) {
    assert_eq!(trial.quarantine("{").await, Quarantined::Kept);
    let (entry, bodies) = trial.kept().await.unwrap();
    assert_eq!((entry.state, entry.cause.as_deref()), (State::Quarantined, Some(CAUSE)));
    assert_eq!(
        (entry.key.to_string(), bodies),
        ("job_1 (quarantined article.complete)".to_owned(), vec!["{".to_owned()])
    );
    assert_eq!(trial.state_of_job().await, Some(JobState::Expected));
    assert_eq!(trial.quarantine("{").await, Quarantined::Duplicate);

    trial.advance(3600);
    let claims = trial.claim().await;
    assert_eq!((claims.claimed.len(), claims.next_due), (0, None));
    assert_eq!(trial.store().due_since().await.unwrap(), None);
    assert_eq!(trial.store().counts().await.unwrap().of(State::Quarantined), 1);
}

/// The answer to a poll that was under way does not bring back a job that was erased.
pub async fn an_answer_about_an_erased_job_is_not_kept(trial: Trial<dyn Subject>) {
    let answer = || Quarantine { expect: None, ..quarantine("{", trial.now()) };
    assert_eq!(trial.store().quarantine(answer()).await.unwrap(), Quarantined::NotNeeded);
    assert_eq!((trial.kept().await, trial.state_of_job().await), (None, None));

    trial.quarantine("[").await;
    assert_eq!(trial.store().quarantine(answer()).await.unwrap(), Quarantined::Kept);
    assert_eq!(trial.kept().await.unwrap().1, ["[", "{"]);
}

pub async fn the_latest_and_the_longest_refused_bodies_are_kept(trial: Trial<dyn Subject>) {
    for (body, kept) in [
        ("{12", &["{12"][..]),
        ("{1", &["{1", "{12"]),
        ("{2", &["{12", "{2"]),
        ("{123", &["{12", "{123"]),
        ("{", &["{", "{123"]),
        ("{3", &["{123", "{3"]),
    ] {
        assert_eq!(trial.quarantine(body).await, Quarantined::Kept);
        let mut found = trial.kept().await.unwrap().1;
        found.sort_unstable();
        assert_eq!(found, kept);
    }
}

/// Of two bodies, one that came to a capability URL gives way first, and to one by token alone if both came by token.
pub async fn a_refused_body_by_token_gives_way_to_none_that_came_to_a_url(
    trial: Trial<dyn Subject>,
) {
    let to_url = async |body: &str| {
        let quarantine = quarantine(body, trial.now());
        let (target, intent) = ("capability".into(), Some("post-17".into()));
        let arrival = Arrival { target, intent, ..quarantine.arrival };
        trial.store().quarantine(Quarantine { arrival, ..quarantine }).await.unwrap()
    };
    assert_eq!(to_url("{12345").await, Quarantined::Kept);
    assert_eq!(trial.quarantine("{12").await, Quarantined::Kept);
    assert_eq!(to_url("{1234567").await, Quarantined::Kept);
    assert_eq!(trial.quarantine("{1").await, Quarantined::Kept);
    assert_eq!(to_url("{123456789").await, Quarantined::BudgetReached);
    let mut kept = trial.kept().await.unwrap().1;
    kept.sort_unstable();
    assert_eq!(kept, ["{1", "{12"]);
}

/// When the budget is used up, nothing that is kept is dropped, and the job is expected all the same.
pub async fn a_full_budget_keeps_what_is_there(trial: Trial<dyn Subject>) {
    let keep = async |id: &str, body: &str, budget, intent: Option<&str>| {
        let arrival = Arrival { intent: intent.map(Into::into), ..arrival(id, body) };
        let expect = Some(Expect::job(job(id), trial.now()));
        let quarantine = Quarantine { arrival, expect, budget, ..quarantine(body, trial.now()) };
        trial.store().quarantine(quarantine).await.unwrap()
    };
    let long = "{".repeat(70_000);
    assert_eq!(keep("job_1", &long, 69_999, None).await, Quarantined::BudgetReached);
    assert_eq!(trial.kept().await, None);
    assert_eq!(trial.state_of_job().await, Some(JobState::Expected));
    assert_eq!(keep("job_1", &long, 70_000, None).await, Quarantined::Kept);
    let before = trial.kept().await;

    let budget = 70_000 + MIN_COST;
    assert_eq!(keep("job_2", "{", budget - 1, None).await, Quarantined::BudgetReached);
    assert_eq!(keep("job_2", "{", budget, Some("post-17")).await, Quarantined::BudgetReached);
    assert_eq!(keep("job_2", "{", budget, None).await, Quarantined::Kept);
    assert_eq!(keep("job_2", "[", budget, None).await, Quarantined::BudgetReached);
    assert_eq!(trial.kept().await, before);
    // What came to capability URLs has a quarter.
    let budget = 4 * (70_000 + 2 * MIN_COST);
    assert_eq!(keep("job_3", "{", budget - 1, Some("post-18")).await, Quarantined::BudgetReached);
    assert_eq!(keep("job_3", "{", budget, Some("post-18")).await, Quarantined::Kept);
}

/// A body that gives way to a later one frees its part of the budget, and no more.
pub async fn a_replaced_body_frees_its_part_of_the_budget(trial: Trial<dyn Subject>) {
    let long = "{".repeat(70_000);
    for (body, expected) in [
        ("{1", Quarantined::Kept),
        ("{2", Quarantined::Kept),
        ("{3", Quarantined::Kept),
        (&long, Quarantined::BudgetReached),
    ] {
        let quarantine = Quarantine { budget: 2 * MIN_COST, ..quarantine(body, trial.now()) };
        assert_eq!(trial.store().quarantine(quarantine).await.unwrap(), expected);
    }
    assert!(trial.kept().await.unwrap().1.contains(&"{3".to_owned()));
}

/// An article that ended without having been handled may have no body that can be read: what is refused is kept beside it.
pub async fn an_article_that_was_not_handled_ends_no_quarantine(trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    trial.quarantine("{").await;
    trial.work("job_1", Outcome::Dead { cause: "no article".into() }).await;
    assert!(trial.kept().await.is_some());
    assert_eq!(trial.quarantine("{1").await, Quarantined::Kept);
    assert_eq!(trial.quarantine("{1").await, Quarantined::Duplicate);
}

/// The headers of a body in quarantine are not known any more: one that does not itself say that it is complete may be half an
/// article.
pub async fn a_body_that_does_not_say_that_it_is_complete_stays_in_quarantine(
    trial: Trial<dyn Subject>,
) {
    let article = r#""job_id": "job_1", "article": {"title": "A", "html": ""}"#;
    for status in ["", r#""status": "processing", "#] {
        let half = format!("{{{status}{article}}}");
        assert_eq!(trial.quarantine(&half).await, Quarantined::Kept);
        assert!(!trial.requeue(key("job_1").quarantine()).await);
    }
    assert_eq!(trial.kept().await.unwrap().1.len(), 2);
}

/// A delivery, an answer of the API or an import ends the quarantine in its own transaction, if it can be read. Otherwise a
/// worker that finds a body which it can read ends it.
pub async fn a_good_copy_ends_a_quarantine(trial: Trial<dyn Subject>) {
    trial.quarantine("{").await;
    assert!(trial.record("job_1", FIRST).await.is_stored());
    assert!(trial.kept().await.is_some(), "it may be no article");
    assert_eq!(trial.record("job_1", ARTICLE).await, Recorded::Conflict { kept: true });
    assert_eq!(trial.kept().await, None);
    trial.store().erase(vec![job("job_1")]).await.unwrap();

    trial.record("job_1", ARTICLE).await;
    let (entry, bodies) = trial.shown("job_1").await;
    trial.store().erase(vec![job("job_1")]).await.unwrap();
    trial.quarantine("{").await;
    assert!(trial.import(entry_line(entry, bodies)).await);
    assert_eq!(trial.kept().await, None, "an import");
    trial.store().erase(vec![job("job_1")]).await.unwrap();

    trial.quarantine("{").await;
    trial.record("job_1", FIRST).await;
    trial.work("job_1", unhandled(1)).await;
    assert!(trial.kept().await.is_some(), "no body can be read");
    trial.requeue(key("job_1")).await;
    trial.work("job_1", Outcome::Done).await;
    assert_eq!(trial.kept().await, None);
    assert_eq!(trial.state_of_job().await, Some(JobState::Arrived));
}

/// A body of another event says nothing about the article.
pub async fn another_event_does_not_end_the_quarantine_of_an_article(trial: Trial<dyn Subject>) {
    trial.quarantine("{").await;
    let updated = update("job_1");
    trial.record_as(updated.clone(), FIRST).await;
    assert!(trial.kept().await.is_some());

    let of_event = Quarantine {
        arrival: Arrival { key: updated.clone(), ..arrival("job_1", "[") },
        ..quarantine("[", trial.now())
    };
    assert_eq!(trial.store().quarantine(of_event).await.unwrap(), Quarantined::Kept);
    let shown = trial.store().show(updated.quarantine()).await.unwrap().unwrap().0;
    assert_eq!(shown.key.to_string(), "job_1 (quarantined article.updated)");
    trial.record_as(updated.clone(), FIRST).await;
    assert_eq!(trial.store().show(updated.quarantine()).await.unwrap(), None);
}

/// Nothing is kept of an article that was handled, also after retention has removed its entry.
pub async fn nothing_is_kept_of_an_article_that_is_here(mut trial: Trial<dyn Subject>) {
    trial.put("job_1", State::Done).await;
    assert_eq!(trial.quarantine("{").await, Quarantined::NotNeeded);
    assert_eq!((trial.kept().await, trial.state_of_job().await), (None, Some(JobState::Arrived)));
    trial.advance(2);
    assert_eq!(trial.prune_old().await.entries, 1);
    assert_eq!(trial.quarantine("{").await, Quarantined::NotNeeded);
    assert_eq!(trial.kept().await, None);
}

/// A later version may read what this one refused: a requeue reads it again. What can be read becomes an entry, and what cannot
/// stays.
pub async fn a_requeue_reads_a_quarantine_again(trial: Trial<dyn Subject>) {
    let is_read_again = async || trial.requeue(key("job_1").quarantine()).await;
    let of_another = ARTICLE.replace("job_1", "job_2");
    for body in ["{", &of_another] {
        trial.quarantine(body).await;
        assert!(!is_read_again().await, "{body}");
        assert!(trial.kept().await.unwrap().1.iter().any(|kept| kept == body));
    }
    // No receiver refuses it: it stands for what a later version reads.
    trial.quarantine(ARTICLE).await;
    assert!(is_read_again().await);
    assert_eq!((trial.kept().await, is_read_again().await), (None, false));
    let claimed = trial.claim().await.claimed.remove(0);
    assert_eq!((claimed.key, claimed.bodies[0].bytes.clone()), (key("job_1"), bytes(ARTICLE)));
    assert_eq!(claimed.bodies[0].source, Source::Webhook);
    assert_eq!(trial.state_of_job().await, Some(JobState::Arrived));
}

/// A page of requeues reads no more of what is in quarantine than a transaction may take, and says what became of the first
/// entries. So no delivery waits while everything is read.
pub async fn a_page_of_large_quarantines_is_requeued_in_parts(trial: Trial<dyn Subject>) {
    let html = "-".repeat(3 << 20);
    let mut page = Vec::new();
    for id in ["job_1", "job_2", "job_3", "job_4"] {
        let large =
            ARTICLE.replace("job_1", id).replace(r#"html": ""#, &format!(r#"html": "{html}"#));
        let refused = Quarantine {
            arrival: arrival(id, &large),
            expect: Some(Expect::job(job(id), trial.now())),
            ..quarantine("", trial.now())
        };
        assert_eq!(trial.store().quarantine(refused).await.unwrap(), Quarantined::Kept);
        page.push((key(id).quarantine(), Some(State::Quarantined)));
    }
    let requeue = async |page| trial.store().requeue(page, SystemTime::UNIX_EPOCH).await.unwrap();
    assert_eq!(requeue(page.clone()).await, [true, true]);
    assert_eq!(trial.store().counts().await.unwrap().of(State::Waiting), 2);
    assert_eq!(requeue(page.split_off(2)).await, [true, true]);
    assert_eq!(trial.store().counts().await.unwrap().of(State::Quarantined), 0);
}

/// An operator discards it, and erases it with its job. Its age ends it never.
pub async fn a_quarantine_ends_by_an_operator_and_not_by_its_age(mut trial: Trial<dyn Subject>) {
    trial.quarantine("{").await;
    trial.advance(400 * 24 * 3600);
    let now = trial.now();
    let prune = Prune {
        bodies_before: now,
        entries_before: now,
        dead_before: Some(now),
        limit: 10,
        ..Prune::default()
    };
    assert_eq!(trial.store().prune(prune).await.unwrap().entries, 0);
    assert!(trial.kept().await.is_some());

    let discarded = trial.store().discard(vec![key("job_1").quarantine()], "no".into()).await;
    assert_eq!((discarded.unwrap(), trial.kept().await), (vec![true], None));
    assert_eq!(trial.state_of_job().await, Some(JobState::Expected));
    let again = trial.store().discard(vec![key("job_1").quarantine()], "no".into()).await;
    assert_eq!(again.unwrap(), [false]);

    trial.quarantine("{").await;
    assert_eq!(trial.store().erase(vec![job("job_1")]).await.unwrap(), [1]);
    assert_eq!((trial.kept().await, trial.state_of_job().await), (None, None));
}

/// An export has it as a line, which an import and a merge add, unless the article is here.
pub async fn a_quarantine_is_exported_and_imported(trial: Trial<dyn Subject>) {
    trial.quarantine("{12").await;
    let export = async || {
        let exported = trial.store().export(Export::Entry(key("job_1").quarantine())).await;
        exported.unwrap().items
    };
    trial.store().merge(Merge::Lines(export().await)).await.unwrap();
    assert_eq!(trial.kept().await.unwrap().1, ["{12"], "the same body is kept once");
    trial.quarantine("{1").await;
    let before = trial.kept().await.unwrap();
    let lines = export().await;
    assert!(matches!(lines[..], [ExportLine::Entry(_), ExportLine::Job(_)]), "{lines:?}");

    trial.store().erase(vec![job("job_1")]).await.unwrap();
    assert_eq!(trial.store().import(lines.clone()).await.unwrap().added, 1);
    let (entry, bodies) = trial.kept().await.unwrap();
    assert_eq!((changed(entry, |entry| entry.id = before.0.id), bodies), before);
    assert_eq!(trial.state_of_job().await, Some(JobState::Expected));

    trial.store().erase(vec![job("job_1")]).await.unwrap();
    trial.quarantine("{2").await;
    trial.store().merge(Merge::Lines(lines.clone())).await.unwrap();
    let kept = trial.kept().await.unwrap().1;
    assert!(kept.len() == 2 && kept.contains(&"{12".to_owned()), "the bounds hold: {kept:?}");

    trial.store().discard(vec![key("job_1").quarantine()], "no".into()).await.unwrap();
    trial.record("job_1", ARTICLE).await;
    trial.work("job_1", Outcome::Done).await;
    for repeated in
        [trial.store().import(lines.clone()).await, trial.store().merge(Merge::Lines(lines)).await]
    {
        assert_eq!((repeated.unwrap().added, trial.kept().await), (0, None));
    }
}

/// An article that was handled in another store ends the quarantine here, also if no copy is left there.
pub async fn an_article_that_was_handled_elsewhere_ends_a_quarantine(
    mut trial: Trial<dyn Subject>,
) {
    trial.put("job_1", State::Done).await;
    let done = vec![entry_line(trial.entry("job_1").await, Vec::new())];
    trial.advance(2);
    assert_eq!(trial.prune_old().await.entries, 1);
    let removed = vec![job_line(trial.store().job(job("job_1")).await.unwrap().unwrap())];
    for merge in [Merge::Lines(done), Merge::RemovedJobs(removed)] {
        trial.store().erase(vec![job("job_1")]).await.unwrap();
        trial.record("job_1", FIRST).await;
        trial.quarantine("{").await;
        trial.store().merge(merge).await.unwrap();
        assert_eq!(trial.kept().await, None);
    }
}
