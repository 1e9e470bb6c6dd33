//! What a page takes for granted: the service, a receiver with its inbox, files. Each page has its own.

use std::{
    env,
    fs::{self, Permissions},
    future::pending,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use article_webhook::{Sink, fixture};
use article_webhook_inbox::{
    Clock, Failed, Inbox, Job, SqliteSettings, SqliteStore, State,
    store::{Expect, Outcome},
};
use article_webhook_inbox_contract::settle_one;
use article_webhook_server::Server;
use article_webhook_simulator::Simulator;
use article_webhook_tower::{AuthToken, Receiver, receive};
use axum::{Router, extract::Request, middleware::map_request};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};
use tempfile::TempDir;
use tokio::{runtime::Runtime, time::sleep};

use crate::pages::{Page, ROOT};

/// The token of the receivers. A page that sets one has none before.
pub(crate) const TOKEN: &str = "Bearer 2b1e9a6c4f7d83500e6f1d2c3b4a5968";

pub(crate) const KEY: &str = "sk-pages";

/// The topic whose article the handler refuses.
const REFUSED: &str = "Refused";

/// A busy machine may take this long between a connection and the head of its request.
const SLOW: Duration = Duration::from_secs(60);

const HOUR: Duration = Duration::from_secs(3600);

/// The questions of `check`, with their large bodies, have limits of time: one is asked at a time.
pub(crate) fn alone(command: &str) -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let is_check = command.trim_start_matches("article-webhook ").starts_with("check ");
    is_check.then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    /// What stands for something on the page, and what it stands for here.
    words: Vec<(&'static str, String)>,
    /// Those of a command. `DEAD` is a job of the inbox that its handler gave up.
    pub(crate) variables: Vec<(String, String)>,
    _runtime: Runtime,
    _ports: [OwnedFd; 2],
    _simulator: Simulator,
}

impl Stage {
    pub(crate) fn of(page: &Page) -> Self {
        let runtime = Runtime::new().unwrap();
        // Beside what is built: a folder for temporary files may be in memory, which `doctor` refuses.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (port, held) = port_for_later();
        let (closed, held_closed) = port_for_later();
        let commands = page.commands();
        let has = |words: &str| commands.iter().any(|command| command.text.contains(words));
        let scene = runtime.block_on(Scene::of(page, folder.path()));
        let port = if has("article-webhook listen") { port } else { scene.receiver.port() };
        let outside = format!("http://{}/webhooks/articles", scene.receiver);
        let mut variables = vec![
            ("ARTICLE_API_URL", scene.simulator.base_url()),
            ("ARTICLE_API_KEY", KEY.to_owned()),
            ("DEAD", scene.dead.clone()),
            ("NO_COLOR", "1".to_owned()),
            ("RECEIVER", outside.clone()),
        ];
        if !has("export ARTICLE_WEBHOOK_TOKEN") {
            variables.push(("ARTICLE_WEBHOOK_TOKEN", TOKEN.to_owned()));
        }
        #[cfg(feature = "postgres")]
        if let Some(url) = page.text.contains("DATABASE_URL").then(database).flatten() {
            variables.push(("DATABASE_URL", url));
        }
        let words = vec![
            ("https://blog.example/webhooks/articles", outside.clone()),
            ("https://shop.example/webhooks/articles", outside.clone()),
            ("https://hooks.example.com/webhooks/articles", outside),
            ("127.0.0.1:3000", format!("127.0.0.1:{port}")),
            ("127.0.0.1:3001", format!("127.0.0.1:{port}")),
            (" --port 3001", String::new()),
            ("127.0.0.1:8080", format!("127.0.0.1:{closed}")),
            ("article-webhook listen", format!("article-webhook listen --port {port}")),
            ("requeue inbox.db JOB", format!("requeue inbox.db {}", scene.dead)),
            ("help COMMAND", "help inbox".to_owned()),
            ("../article-webhook/tests/", format!("{ROOT}/tests/")),
            ("@tests/", format!("@{ROOT}/tests/")),
            // The job of the fixture that curl sends stays.
            (" job_7c1e4a52", format!(" {}", scene.complete)),
        ];
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value));
        Self {
            folder,
            words,
            variables: variables.collect(),
            _runtime: runtime,
            _ports: [held, held_closed],
            _simulator: scene.simulator,
        }
    }

    /// A shell in the folder, with the tool that was built first on the path.
    pub(crate) fn shell(&self, command: &str) -> Command {
        let tool = PathBuf::from(env!("CARGO_BIN_EXE_article-webhook"));
        let path = format!("{}:{}", tool.parent().unwrap().display(), env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.folder.path()).stdin(Stdio::null());
        shell.env_remove("ARTICLE_WEBHOOK_TOKEN").env_remove("ARTICLE_INBOX_READ_ONLY");
        shell.env("PATH", path).envs(self.variables.iter().cloned());
        shell
    }

    /// A command of the page as it runs here.
    pub(crate) fn set(&self, command: &str) -> String {
        let is_tool = command.starts_with("article-webhook");
        let words = self.words.iter().filter(|(word, _)| is_tool || !word.starts_with(" job"));
        words.fold(command.to_owned(), |text, (word, stands_for)| text.replace(word, stands_for))
    }
}

struct Scene {
    receiver: SocketAddr,
    simulator: Simulator,
    /// Jobs of the service: one is published, the other was refused by the handler.
    complete: String,
    dead: String,
}

impl Scene {
    async fn of(page: &Page, folder: &Path) -> Self {
        let file = folder.join("inbox.db");
        let sink = match &*page.name {
            // It begins with nothing.
            "crates/article-webhook/src/guide/start.md" => Inbox::memory(),
            "crates/article-webhook-cli/README.md" => {
                dead_for_an_hour(&file).await;
                Inbox::memory()
            }
            // What salvages or moves a file needs one that no receiver uses.
            "crates/article-webhook/src/guide/damage.md"
            | "crates/article-webhook/src/guide/postgres.md"
            | "crates/article-webhook/src/guide/production.md" => {
                Inbox::open(&file).await.unwrap().close().await.unwrap();
                Inbox::memory()
            }
            "crates/article-webhook/src/guide/machines.md" => {
                Inbox::open(&file).await.unwrap().close().await.unwrap();
                let old = Inbox::open(folder.join("old.db")).await.unwrap();
                let delivery = fixture::complete().delivery().unwrap();
                Sink::accept(&old, delivery).await;
                old.close().await.unwrap();
                Inbox::memory()
            }
            _ => Inbox::open(&file).await.unwrap(),
        };
        let stripped = "X-Service-Job-Id";
        let stripped = page.says(&format!("{stripped} does not arrive")).then_some(stripped);
        let receiver = receiver(sink.clone(), TOKEN, stripped).await;
        let handler = async |job: Job| match &*job.article()?.article.title {
            REFUSED => Err(Failed::dead("the blog has no such category")),
            _ => Ok(()),
        };
        let worker = sink.worker(handler);
        tokio::spawn(worker.run(pending::<()>()));

        let clock = article_webhook_simulator::SimulatorClock::accelerated(1000);
        let url = format!("http://{receiver}/webhooks/articles");
        let simulator = Simulator::builder().clock(clock).api_key(KEY).publish_target(&url, TOKEN);
        let simulator = simulator.start().await.unwrap();
        let complete = simulator.order("Running shoes").await.unwrap().job_id;
        let dead = simulator.order(REFUSED).await.unwrap().job_id;
        let count = async |state| sink.counts().await.unwrap().of(state);
        while count(State::Done).await == 0 || count(State::Dead).await == 0 {
            sleep(Duration::from_millis(20)).await;
        }
        let expect = Expect::job(complete.parse().unwrap(), SystemTime::now());
        sink.ledger().expect(vec![expect]).await.unwrap();
        fs::write(folder.join("jobs.txt"), format!("{complete}\n")).unwrap();
        fs::write(folder.join("brand.json"), r#"{"name": "Running shop"}"#).unwrap();
        let variables = folder.join(".env");
        fs::write(&variables, format!("ARTICLE_WEBHOOK_TOKEN='{TOKEN}'\n")).unwrap();
        // A file that others may read is a warning.
        fs::set_permissions(&variables, Permissions::from_mode(0o600)).unwrap();
        Self { receiver, simulator, complete, dead }
    }
}

/// A receiver, maybe behind a proxy that takes a header away.
async fn receiver(inbox: Inbox, token: &str, stripped: Option<&'static str>) -> SocketAddr {
    let server = Server::builder().head_deadline(SLOW).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let receiver = Receiver::new(AuthToken::new(token).unwrap());
    let route = Router::new().route_service("/webhooks/articles", receive(receiver, inbox));
    let strip = map_request(move |mut request: Request| async move {
        if let Some(header) = stripped {
            request.headers_mut().remove(header);
        }
        request
    });
    tokio::spawn(server.serve(route.layer(strip), pending()));
    address
}

/// An inbox with one entry, received three hours ago and dead for one.
async fn dead_for_an_hour(file: &Path) {
    let clock = Clock::stepped(SystemTime::now() - 3 * HOUR);
    let settings = SqliteSettings::default().clock(clock.clone());
    let store = SqliteStore::open_with(file, settings).unwrap();
    let inbox = Inbox::new(store.clone());
    let delivery = fixture::complete().job_id("job_17").delivery().unwrap();
    Sink::accept(&inbox, delivery).await;
    clock.advance(2 * HOUR - Duration::from_secs(8 * 60));
    let cause = || "the blog is down".to_owned();
    for attempt in 1..=8 {
        clock.advance(Duration::from_secs(60));
        let outcome = match attempt {
            8 => Outcome::Dead { cause: cause() },
            _ => Outcome::Retry { after: Duration::ZERO, cause: cause() },
        };
        settle_one(&store, outcome).await;
    }
    inbox.close().await.unwrap();
}

/// A port of this machine at which nothing listens. While the socket is there, the system gives it to no other that asks
/// for any port, and one that asks for this port gets it.
fn port_for_later() -> (u16, OwnedFd) {
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_reuseaddr(&held, true).unwrap();
    bind(&held, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddrV4::try_from(getsockname(&held).unwrap()).unwrap();
    (address.port(), held)
}

/// A database with the tables of an inbox, as a first receiver leaves it.
#[cfg(feature = "postgres")]
fn database() -> Option<String> {
    let url = crate::postgres_server::shared_url()?;
    let schema = format!("pages_{}", std::process::id());
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let settings = article_webhook_postgres::PostgresSettings::new(&url).unwrap();
        let settings = settings.schema(&schema).unwrap();
        // The application's role on the page. A server that was named may have it.
        let client = settings.client().await.unwrap();
        drop(client.batch_execute("CREATE ROLE blog LOGIN").await);
        let store = article_webhook_postgres::PostgresStore::connect(settings).await.unwrap();
        Inbox::new(store).close().await.unwrap();
    });
    Some(format!("{url}?schema={schema}"))
}
