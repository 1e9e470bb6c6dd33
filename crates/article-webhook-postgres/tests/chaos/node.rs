//! A node: this program once more, with a receiver and a worker.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{self, Child, Command, Stdio},
    thread,
    time::Duration,
};

use article_webhook_axum::receive;
use article_webhook_inbox::{Failed, Inbox, Job};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use article_webhook_server::Server;
use axum::{Router, routing::any};
use tokio::sync::watch;
use tokio_postgres::{
    NoTls,
    types::{ToSql, Type},
};

use crate::{database::Database, runs::Runs, scene};

const SERVE: &str = "--serve";

/// How long a lease of the nodes lasts. What a node held when it was killed waits so long.
const LEASE: Duration = Duration::from_secs(2);

pub(crate) const CONCURRENCY: usize = 4;

/// The process of a node.
pub(crate) struct Node {
    process: Child,
    log: std::path::PathBuf,
    pub(crate) address: SocketAddr,
}

impl Node {
    pub(crate) fn start(database: &Database, folder: &Path, number: usize) -> Self {
        let log = folder.join(format!("node {number}"));
        let errors = fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut process = Command::new(env::current_exe().unwrap())
            .args([SERVE, &database.url(), &database.schema])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse::<u16>().unwrap_or_else(|_| {
            panic!("a node ends: {}", fs::read_to_string(&log).unwrap_or_default())
        });
        Self { process, log, address: (Ipv4Addr::LOCALHOST, port).into() }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Asks it to stop. It must not have ended by itself.
    pub(crate) fn stop(mut self) {
        let ended = self.process.try_wait().unwrap();
        drop(self.process.stdin.take());
        let status = self.process.wait().unwrap();
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        assert!(ended.is_none() && status.success(), "a node ended: {ended:?}, {status}: {log}");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves, if this process is a node.
pub(crate) fn serves() -> bool {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [serve, url, schema] = &arguments[..] else { return false };
    if serve != SERVE {
        return false;
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    if let Err(error) = runtime.unwrap().block_on(serve_until_stopped(url, schema)) {
        eprintln!("{error}");
        process::exit(2);
    }
    true
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn serve_until_stopped(url: &str, schema: &str) -> Result<(), Failure> {
    let (stop, stopped) = watch::channel(());
    thread::spawn(move || {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        drop(stop);
        thread::sleep(Duration::from_secs(20));
        process::exit(3);
    });
    let settings = PostgresSettings::new(url)?.schema(schema)?;
    let store = loop {
        match PostgresStore::connect(settings.clone()).await {
            Err(error) if error.is_transient() => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            connected => break connected?,
        }
    };
    let inbox = Inbox::new(store);
    let receiver = article_webhook::fixture::receiver();
    let app = Router::new().route("/webhooks/articles", any(receive(receiver, inbox.clone())));
    let server = Server::bind("127.0.0.1:0").await?;
    println!("{}", server.local_addr()?.port());

    let handler =
        Handler { runs: Runs::write(Path::new("runs")), url: url.into(), schema: schema.into() };
    let worker = inbox
        .worker(move |job| handler.clone().handle(job))
        // A job that is killed many times over is not given up, so that none is missing in the end.
        .attempts(1000)
        .concurrency(u32::try_from(CONCURRENCY)?)
        .backoff(Duration::from_millis(10), Duration::from_millis(50))
        .lease(LEASE)
        .poll(Duration::from_millis(200));
    let serve = async { Ok::<(), Failure>(server.serve(app, until(stopped.clone())).await?) };
    let work = async { Ok(worker.run(until(stopped.clone())).await?) };
    tokio::try_join!(serve, work)?;
    // Where the server is gone, there is nothing to close.
    let _ = inbox.close().await;
    Ok(())
}

async fn until(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

/// Handles a job in a transaction of its own, or fails the first time, if its id says so.
#[derive(Debug, Clone)]
struct Handler {
    runs: Runs,
    url: String,
    schema: String,
}

impl Handler {
    async fn handle(self, job: Job) -> Result<(), Failed> {
        self.runs.note("began", &job);
        if job.job_id().as_str().starts_with("own-") {
            self.complete(&job).await?;
            self.runs.note("completed", &job);
        } else if job.job_id().as_str().starts_with("fails-") && job.attempt() == 1 {
            return Err(Failed::because("as its id says"));
        } else {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    async fn complete(&self, job: &Job) -> Result<(), Failure> {
        let (mut client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
        tokio::spawn(connection);
        let transaction = client.transaction().await?;
        let effect = format!("INSERT INTO {}.effects VALUES ($1)", self.schema);
        // A pooler may give another client's statement the name of this one.
        let job_id = [(&job.job_id().as_str() as &(dyn ToSql + Sync), Type::TEXT)];
        transaction.execute_typed(&effect, &job_id).await?;
        let completion = job.completion()?;
        if scene::complete(&transaction, &completion).await? == 0 {
            return Err("the lease is lost".into());
        }
        Ok(transaction.commit().await?)
    }
}
