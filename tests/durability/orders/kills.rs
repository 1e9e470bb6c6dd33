//! An application that is killed at any time, and started again on its file, orders nothing twice and loses no order.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::{IntentState, JobState, State};
use fastrand::Rng;

use super::{
    api::Api,
    customers::Customers,
    ledger::{self, Found},
};
use crate::{
    child::Child,
    form::Form,
    role::{self, Role},
    strace::{self, Strace},
};

/// How many customers there are.
const LINES: usize = 2;

/// Where an obstacle keeps everything from being traced, every kill is one at random.
pub(crate) fn lose_no_order(form: Form, obstacle: Option<&str>) {
    if let Some(obstacle) = obstacle {
        println!("durability: orders, kills: skipped: kills at named points: {obstacle}");
    }
    let start = Instant::now();
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let folder = folder.path().canonicalize().expect("it is there");
    let api = Api::start(&folder, Duration::ZERO..=Duration::from_millis(500));
    let customers = Customers::default();
    let rounds = form.choose(15, 100);
    let mut points = BTreeMap::new();
    thread::scope(|scope| {
        let lines: Vec<_> = (0..LINES)
            .map(|line| {
                let customers = &customers;
                scope.spawn(move || customers.want(line))
            })
            .collect();
        let mut rng = Rng::new();
        for round in 0..rounds {
            let (name, aim) = POINTS[if obstacle.is_none() { round % 4 } else { 0 }];
            let was_hit = kill_once(&folder, &customers, aim, &mut rng);
            let point = if was_hit { name } else { "elsewhere, the aim was missed" };
            *points.entry(point).or_insert(0) += 1;
        }
        customers.are_done.store(true, Ordering::Relaxed);
        let mut child =
            Child::start(&folder, Role::Orders, None).expect("it starts after the last kill");
        customers.move_to(Some(child.address));
        for line in lines {
            line.join().expect("each order is answered");
        }
        super::finish(&mut child, Duration::from_secs(120));
        assert!(child.stop().success(), "it stops in order");
    });
    check(&folder, &api, &customers);
    for (point, kills) in &points {
        println!("  {kills} {point}");
    }
    let orders = api.orders();
    println!(
        "durability: orders, kills: {rounds} kills, {} orders taken, 0 twice, 0 forgotten, {} polls, all collected, in {} s",
        orders.len(),
        api.polls(),
        start.elapsed().as_secs(),
    );
}

/// Where a child is killed: at the entry of a system call, before it is executed, and which of so many; or at random.
const POINTS: [(&str, Option<(&str, u32)>); 4] = [
    ("at random", None),
    ("before a write to the file or its log", Some(("pwrite64", 150))),
    ("before a sync", Some((strace::SYNCS, 40))),
    ("before a request or an answer is sent", Some((strace::SENDS, 60))),
];

/// Starts a child, lets it order and poll, and kills it. Whether that was where it should be.
fn kill_once(
    folder: &Path,
    customers: &Customers,
    aim: Option<(&str, u32)>,
    rng: &mut Rng,
) -> bool {
    let strace = aim.map(|(call, most)| {
        let injection = format!("{call}:signal=KILL:when={}", rng.u32(1..=most));
        Strace::glancing(call, &folder.join("trace")).injecting(&injection)
    });
    let Ok(mut child) = Child::start(folder, Role::Orders, strace.as_ref()) else {
        let stderr = fs::read_to_string(folder.join("stderr")).unwrap_or_default();
        assert!(strace.is_some(), "it starts after a kill: {stderr}");
        return false;
    };
    customers.move_to(Some(child.address));
    let timeout = Duration::from_millis(if aim.is_some() { 1500 } else { rng.u64(20..400) });
    let ended = child.ends_within(timeout);
    assert!(!ended || strace.is_some(), "it ended by itself");
    child.kill();
    ended || strace.is_none()
}

fn check(folder: &Path, api: &Api, customers: &Customers) {
    let Found { intents, jobs, entries, .. } =
        ledger::read(&folder.join(role::FILE)).expect("the file opens");
    let (orders, ordered) = (api.orders(), customers.ordered());
    assert!(ordered.len() > 10, "only {} were ordered", ordered.len());
    for (intent, taken) in &orders {
        assert_eq!(taken.len(), 1, "{intent} was ordered twice: {taken:?}");
        let known = intents.get(intent);
        let known = known.unwrap_or_else(|| panic!("{intent} was ordered, and is forgotten"));
        match &known.job_id {
            Some(job_id) => assert_eq!(job_id.as_str(), taken[0], "{intent}"),
            None => assert!(
                matches!(known.state, IntentState::Ordering | IntentState::Unknown),
                "{intent}: {known:?}"
            ),
        }
    }
    for (intent, job_id) in &ordered {
        assert_eq!(orders.get(intent), Some(&vec![job_id.clone()]), "the job of {intent}");
        let known = intents[intent].job_id.as_ref().map(|known| known.as_str());
        assert_eq!(known, Some(job_id.as_str()), "{intent} returned this job, and is forgotten");
        let job = jobs.get(job_id).unwrap_or_else(|| panic!("{job_id} is not expected"));
        assert_eq!(job.state, JobState::Collected, "{job_id}");
    }
    for (job_id, job) in &jobs {
        let [entry] = entries[job_id].as_slice() else {
            panic!("{job_id} is {} times in the inbox", entries[job_id].len())
        };
        assert_eq!((job.state, entry.state), (JobState::Collected, State::Done), "{job_id}");
        assert_eq!(entry.bodies, [api.article(job_id)], "{job_id}");
    }
    assert_eq!(entries.len(), jobs.len(), "only what was ordered is in the inbox");
}
