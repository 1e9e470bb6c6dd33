use std::{
    collections::HashSet,
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use article_webhook_inbox::{Inbox, State, store::Store};
use tokio_postgres::Client;

use crate::{
    claims::deliver,
    form::Form,
    scratch,
    server::Server,
    table::{Table, at_least, at_most, plain},
};

/// The argument that makes this program a node.
pub(crate) const CHILD: &str = "--node";

const NODES: usize = 8;

/// Works until nothing is due. It waits for a line before it begins, and prints the job of each entry that it handles.
pub(crate) fn work(url: &str, schema: &str) {
    crate::runtime().block_on(async {
        let inbox = Inbox::new(crate::store(url, schema).await);
        println!("ready");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        let jobs = Arc::new(Mutex::new(Vec::new()));
        let handled = Arc::clone(&jobs);
        let worker = inbox.worker(move |job: article_webhook_inbox::Job| {
            handled.lock().unwrap().push(job.job_id().to_string());
            async { Ok::<(), article_webhook_inbox::Failed>(()) }
        });
        worker.concurrency(4).run_until_idle().await.unwrap();
        inbox.close().await.unwrap();
        let jobs = jobs.lock().unwrap();
        println!("{}", jobs.join(" "));
    });
}

/// A node, as a process of its own.
struct Node {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Node {
    fn start(url: &str, schema: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args([CHILD, url, schema])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut node = Self { output: BufReader::new(process.stdout.take().unwrap()), process };
        assert_eq!(node.line(), "ready");
        node
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Node {
    /// If the benchmark fails, its nodes do not stay.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Entries that several nodes share, compared with one node that handles all of them.
pub(crate) fn run(form: Form) {
    let entries = match form {
        Form::Short => 5_000,
        Form::Long => 100_000,
    };
    let settings = ["shared_preload_libraries = 'pg_stat_statements'", "max_connections = 200"];
    let Some(server) = Server::start_in(&scratch::parent(), &settings) else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let client = runtime.block_on(crate::connect(&url));
    runtime.block_on(client.batch_execute("CREATE EXTENSION pg_stat_statements")).unwrap();
    let mut table = Table::new(
        "postgres: nodes",
        "entries of 1 KB handled by nodes of their own processes with 4 handlers each",
        &[
            "nodes",
            "handled",
            "twice",
            "least by a node : its share",
            "statements an entry",
            ": one node",
        ],
    );
    let mut of_one = 0.0;
    for nodes in [1, NODES] {
        let schema = format!("nodes_{nodes}");
        let store = runtime.block_on(async {
            let store = crate::store(&url, &schema).await;
            deliver(&store, entries, 1024).await;
            store
        });
        let mut started: Vec<_> = (0..nodes).map(|_| Node::start(&url, &schema)).collect();
        let before = runtime.block_on(statements(&client));
        for node in &mut started {
            node.process.stdin.take().unwrap().write_all(b"go\n").unwrap();
        }
        let handled: Vec<Vec<String>> = started
            .iter_mut()
            .map(|node| node.line().split_whitespace().map(ToOwned::to_owned).collect())
            .collect();
        for node in &mut started {
            assert!(node.process.wait().unwrap().success());
        }
        let an_entry = (runtime.block_on(statements(&client)) - before) / entries as f64;
        let done = runtime.block_on(store.counts()).unwrap().of(State::Done);
        assert_eq!(done, entries as u64);
        let once: HashSet<&String> = handled.iter().flatten().collect();
        let all: usize = handled.iter().map(Vec::len).sum();
        let least = handled.iter().map(Vec::len).min().unwrap_or(0);
        let share = least as f64 / (entries as f64 / nodes as f64);
        if nodes == 1 {
            of_one = an_entry;
        }
        table.row(
            nodes,
            [
                plain(once.len() as f64, ""),
                at_most((all - once.len()) as f64, 0.0, ""),
                at_least(share, 0.5, " ×"),
                plain(an_entry, ""),
                at_most(an_entry / of_one, 1.1, " ×"),
            ],
        );
    }
    println!("{table}");
}

/// How many statements the server has run.
async fn statements(client: &Client) -> f64 {
    let calls = "SELECT sum(calls)::float8 FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'";
    client.query_one(calls, &[]).await.unwrap().get(0)
}
