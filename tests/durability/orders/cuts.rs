//! An application that is killed, or whose power is cut, finds each of its orders and polls in its file, and orders nothing twice.
//!
//! Children are recorded while they order and poll, and some of them are killed. Their files are rebuilt as they may be after a cut
//! at any moment, and held against what had left the machine by then: calls of the service, and answers to customers.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    thread,
    time::{Duration, Instant, SystemTime},
};

use fastrand::Rng;

use super::{api::Api, application::PER_MINUTE, ledger};
use crate::{
    child::Child,
    form::Form,
    power_cut,
    recording::{Answers, Moment, Recording},
    role::{self, Role},
    service::Line,
    strace::{self, Strace},
};

/// How many customers there are.
const LINES: usize = 2;

/// The children that follow each other on the same files. Some are killed, before a call of these names: one of so many. The next
/// repeats the orders of a child that was killed.
const CHILDREN: [Option<(&str, u32)>; 5] =
    [None, Some((strace::SYNCS, 40)), None, Some((strace::SENDS, 30)), None];

/// The time in which a token comes back.
const TOKEN: Duration = Duration::from_millis(60_000 / PER_MINUTE as u64);

pub(crate) fn no_order_is_lost(form: Form) {
    let start = Instant::now();
    let tape = Tape::record(form);
    let found = power_cut::cut(
        &tape.recording,
        &tape.promises(),
        form.choose(120, 2000),
        &|folder, moment, _| Ok(tape.wrong(&ledger::read(&folder.join(role::FILE))?, moment)),
    );
    assert_eq!((found.lost, found.damaged), (0, 0), "{}", found.example);
    println!(
        "durability: orders, cuts: {} orders and {} polls sent, {} answered, {found}, in {} s",
        tape.orders.len(),
        tape.polls.len(),
        tape.recording.acknowledged.len(),
        start.elapsed().as_secs(),
    );
}

/// What was recorded.
struct Tape {
    begin: SystemTime,
    recording: Recording,
    /// When each order began to be sent, and its intent.
    orders: Vec<(Moment, String)>,
    /// When each poll began to be sent, and its job.
    polls: Vec<(Moment, String)>,
    /// The article of each job.
    articles: BTreeMap<String, Vec<u8>>,
}

impl Tape {
    fn record(form: Form) -> Self {
        let begin = SystemTime::now();
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let folder = folder.path().canonicalize().expect("it is there");
        let api = Api::start(&folder, Duration::ZERO..=Duration::from_millis(100));
        let (mut traces, mut answers) = (Vec::<PathBuf>::new(), Answers::new());
        let mut rng = Rng::new();
        for (run, killed) in CHILDREN.into_iter().enumerate() {
            let trace = folder.join(format!("trace.{run}"));
            let mut strace = Strace::recording(&trace);
            if let Some((calls, most)) = killed {
                // The first of them are those of the start.
                let when = rng.u32(10..=most);
                strace = strace.injecting(&format!("{calls}:signal=KILL:when={when}"));
            }
            traces.push(trace);
            let child = Child::start(&folder, Role::Orders, Some(&strace));
            let mut child = child.expect("it starts");
            let intents = |line| {
                let series = run.div_ceil(2);
                (0..form.choose(5, 12)).map(move |nth| format!("post-{series}-{line}-{nth}"))
            };
            thread::scope(|scope| {
                let order = |line| {
                    let intents = intents(line);
                    let address = child.address;
                    scope.spawn(move || order(address, intents))
                };
                let lines: Vec<_> = (0..LINES).map(order).collect();
                for line in lines {
                    let (port, ordered) = line.join().expect("it says what was answered");
                    answers.insert(port, ordered);
                }
            });
            super::finish(&mut child, Duration::from_secs(60));
            child.stop();
        }
        let recording = Recording::read(&folder, &traces, &answers);
        let (mut orders, mut polls) = (Vec::new(), Vec::new());
        for (moment, text) in &recording.requests {
            let word = |from: &str, to| Some(text.split_once(from)?.1.split_once(to)?.0.to_owned());
            if text.starts_with("POST ") {
                orders.push((*moment, word("\"topic\":\"", '"').expect("an order has a topic")));
            } else if let Some(job_id) = word("GET /v1/content/articles/", ' ') {
                polls.push((*moment, job_id));
            }
        }
        let taken = api.orders();
        let is_seen = |intent: &String| orders.iter().any(|(_, seen)| seen == intent);
        assert!(taken.keys().all(is_seen), "each order that was taken is in the recording");
        assert!(
            taken.values().all(|jobs| jobs.len() == 1),
            "an intent was ordered twice: {taken:?}"
        );
        assert!(!polls.is_empty() && !recording.acknowledged.is_empty(), "nothing was collected");
        let articles = taken.into_values().flatten();
        let articles = articles.map(|job_id| (job_id.clone(), api.article(&job_id))).collect();
        let tape = Self { begin, recording, orders, polls, articles };
        let found = ledger::read(&folder.join(role::FILE)).expect("the file opens");
        assert_eq!(tape.wrong(&found, tape.recording.end), [""; 0], "without a cut");
        tape
    }

    /// After which moments something must be in the file.
    fn promises(&self) -> Vec<Moment> {
        let requests = self.orders.iter().chain(&self.polls).map(|(moment, _)| *moment);
        requests.chain(self.recording.acknowledged.keys().copied()).collect()
    }

    /// What is missing in a file after a cut at this moment.
    fn wrong(&self, found: &ledger::Found, moment: Moment) -> Vec<String> {
        let mut wrong = Vec::new();
        for (_, intent) in self.orders.iter().filter(|(sent, _)| *sent < moment) {
            if !found.intents.contains_key(intent) {
                wrong.push(format!("the order of {intent} was sent, and is forgotten"));
            }
        }
        for answer in self.recording.acknowledged.range(..moment).map(|(_, answer)| answer) {
            let Some((intent, job_id)) = answer.split_once(' ') else { continue };
            let known = found.intents.get(intent).and_then(|known| known.job_id.as_ref());
            if known.is_none_or(|known| known.as_str() != job_id)
                || !found.jobs.contains_key(job_id)
            {
                wrong.push(format!("{intent} was ordered as {job_id}, and is forgotten"));
            }
        }
        let mut polled: BTreeMap<&str, u32> = BTreeMap::new();
        for (_, job_id) in self.polls.iter().filter(|(sent, _)| *sent < moment) {
            *polled.entry(job_id).or_default() += 1;
        }
        for (job_id, times) in &polled {
            let counted = found.jobs.get(*job_id).map_or(0, |job| job.polls);
            if counted < *times {
                wrong.push(format!("{job_id} was polled {times} times, and {counted} are stored"));
            }
        }
        // A token that is taken makes the bucket full later by the time in which one comes back.
        let polls = polled.values().sum::<u32>();
        if polls > 0 && found.bucket.full_at < self.begin + TOKEN * polls {
            wrong.push(format!("{polls} polls were sent, and fewer tokens are spent"));
        }
        for (job_id, job) in &found.jobs {
            let bodies: Vec<_> = found.entries.get(job_id).into_iter().flatten().collect();
            let is_there =
                bodies.iter().map(|entry| &entry.bodies).eq([&[self.articles[job_id].clone()]]);
            if job.state.has_article() != is_there || job.state.is_open() != bodies.is_empty() {
                wrong.push(format!("{job_id} is {}, with {} entries", job.state, bodies.len()));
            }
            if job.state.is_open() != found.polled.contains(job_id) {
                wrong.push(format!("{job_id} is {}, and is not polled", job.state));
            }
        }
        wrong
    }
}

/// Orders one after the other, until all are answered or the child has died. Says the intents and jobs that were
/// answered on which connection. An answer without a job, about an order whose child was killed, is an empty text.
fn order(
    address: std::net::SocketAddr,
    intents: impl Iterator<Item = String>,
) -> (u16, Vec<String>) {
    let mut line = Line::open(address).expect("it listens");
    let mut answered = Vec::new();
    for intent in intents {
        let Ok((status, job_id)) = line.get(&format!("/orders/{intent}")) else { break };
        assert!(matches!(status, 200 | 409), "{intent}: {status}: {job_id}");
        answered.push(if status == 200 { format!("{intent} {job_id}") } else { String::new() });
    }
    (line.port(), answered)
}
