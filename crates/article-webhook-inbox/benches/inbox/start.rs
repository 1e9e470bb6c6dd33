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
    let mut row = |after: &str, most: Option<f64>, end: End| {
        let began = Instant::now();
        io::copy(&mut fs::File::open(&path).unwrap(), &mut io::sink()).unwrap();
        let once = began.elapsed().as_secs_f64();
        let [start, memory, findings] = started(&path, end);
        assert_eq!(findings > 0.0, after.contains("flipped"), "{after}: what the start has found");
        let beyond = (start - once).max(0.0);
        let beyond = most.map_or_else(|| plain(beyond, " s"), |most| at_most(beyond, most, " s"));
        let (start, once) = (plain(start, " s"), plain(once, " s"));
        table.row(
            format!("{size}, {after}"),
            [start, once, beyond, at_most(memory, MOST_MEMORY, "")],
        );
    };
    row("a stop in order", Some(AFTER_STOP), End::Aborts);
    row("a kill", Some(AFTER_KILL), End::Aborts);
    damage_an_index(&path);
    row("a kill, and a flipped bit in an index", None, End::Stops);
    println!("{table}");
}

/// How the process ends that has started.
#[derive(Debug, Clone, Copy)]
enum End {
    Stops,
    /// After a delivery.
    Aborts,
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

/// Starts a process with the file. Returns its seconds, its MiB, and how much it found damaged.
fn started(path: &Path, end: End) -> [f64; 3] {
    let mut child = Command::new(env::current_exe().unwrap());
    let output = child.arg(CHILD).arg(path).arg(format!("{end:?}")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<_> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    figures.try_into().unwrap()
}

/// What that process does.
pub(crate) fn child(path: &str, end: &str) {
    let began = Instant::now();
    let store = SqliteStore::open(path).unwrap();
    let (seconds, memory) = (began.elapsed().as_secs_f64(), mebibytes("VmHWM:"));
    crate::runtime().block_on(async {
        println!("{seconds} {memory} {}", store.health().await.unwrap().findings.len());
        if end == format!("{:?}", End::Aborts) {
            store.record(Bodies::new(BODY_BYTES).arrival(&mut fastrand::Rng::new())).await.unwrap();
            process::abort();
        }
        store.close().await.unwrap();
    });
}

/// Flips a bit of a job id in the middle of the index of jobs and events.
fn damage_an_index(path: &Path) {
    const PAGE: usize = 8192;
    const INDEX_LEAF: u8 = 10;
    const EVENT: &[u8] = b"article.complete";

    let mut bytes = fs::read(path).unwrap();
    let id_end = |page: &[u8]| page.windows(EVENT.len()).position(|text| text == EVENT);
    let leaves: Vec<_> = (0..bytes.len() / PAGE)
        .map(|page| page * PAGE)
        .filter(|at| bytes[*at] == INDEX_LEAF && id_end(&bytes[*at..*at + PAGE]).is_some())
        .collect();
    let leaf = leaves[leaves.len() / 2];
    let id_end = leaf + id_end(&bytes[leaf..leaf + PAGE]).unwrap();
    bytes[id_end - 1] ^= 1;
    fs::write(path, bytes).unwrap();
}
