use std::{
    env, fs, io,
    path::Path,
    process::{self, Command},
    time::Instant,
};

use article_webhook_inbox::{SqliteStore, store::Store};
use tokio::task::JoinSet;

use crate::{
    bodies::Bodies,
    form::Form,
    resident::mebibytes,
    scratch,
    table::{Table, at_most, plain},
};

/// The program as a process that starts: the first argument of what [`child`] gets.
pub(crate) const CHILD: &str = "--start-child";

/// Beyond reading the file once, in seconds; and in MiB.
const AFTER_STOP: f64 = 0.5;
const AFTER_KILL: f64 = 1.0;
const MOST_MEMORY: f64 = 64.0;

const BODY_BYTES: usize = 16 << 10;

/// How long a start takes, and how much memory, in a process of its own.
pub(crate) fn run(form: Form) {
    let (deliveries, size) = match form {
        Form::Short => (4_000, "64 MiB"),
        Form::Long => (62_000, "1 GiB"),
    };
    let folder = scratch::folder();
    let path = folder.path().join("inbox.db");
    crate::runtime().block_on(fill(&path, deliveries));

    let mut table = Table::new(
        "inbox: start",
        "the start of an inbox in a process of its own, and its memory in MiB",
        &["inbox", "start", "reading the file once", "beyond that", "memory"],
    );
    for (after, most) in [("a stop in order", AFTER_STOP), ("a kill", AFTER_KILL)] {
        let began = Instant::now();
        io::copy(&mut fs::File::open(&path).unwrap(), &mut io::sink()).unwrap();
        let once = began.elapsed().as_secs_f64();
        let [start, memory] = started(&path);
        let beyond = at_most((start - once).max(0.0), most, " s");
        let (start, once) = (plain(start, " s"), plain(once, " s"));
        table.row(
            format!("{size}, {after}"),
            [start, once, beyond, at_most(memory, MOST_MEMORY, "")],
        );
    }
    println!("{table}");
}

async fn fill(path: &Path, deliveries: usize) {
    let store = SqliteStore::open(path).unwrap();
    let bodies = Bodies::new(BODY_BYTES);
    let mut tasks = JoinSet::new();
    for _ in 0..250 {
        let (store, bodies) = (store.clone(), bodies.clone());
        tasks.spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..deliveries / 250 {
                store.record(bodies.arrival(&mut random)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    store.close().await.unwrap();
}

/// Starts a process with the file. Returns its seconds and its MiB.
fn started(path: &Path) -> [f64; 2] {
    let mut child = Command::new(env::current_exe().unwrap());
    let output = child.arg(CHILD).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<_> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    figures.try_into().unwrap()
}

/// What that process does. It is killed after a delivery.
pub(crate) fn child(path: &str) {
    let began = Instant::now();
    let store = SqliteStore::open(path).unwrap();
    let (seconds, memory) = (began.elapsed().as_secs_f64(), mebibytes("VmHWM:"));
    crate::runtime().block_on(async {
        println!("{seconds} {memory}");
        store.record(Bodies::new(BODY_BYTES).arrival(&mut fastrand::Rng::new())).await.unwrap();
        process::abort();
    });
}
