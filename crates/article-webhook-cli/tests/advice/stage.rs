//! A folder with an inbox, a service and a receiver, and a shell in which the tool is used.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    ops::Range,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use article_webhook::fixture;
use article_webhook_inbox::Inbox;
use article_webhook_simulator::{Fault, Rule, Simulator, SimulatorClock, Step};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    sample,
    server::{answer, refusal, serve},
    tool::{TOKEN, VARIABLES, ended},
};

/// The commands that go on until they are ended.
const GO_ON: [&str; 3] = [" listen --inbox", " inbox page", " simulate"];

/// How many jobs an inbox has, or expects.
const KNOWN: &str = "{ article-webhook inbox list $1 --json; article-webhook inbox jobs $1 --json; } | \
    grep -o '\"job_id\":\"[^\"]*\"' | sort -u | wc -l\n";

/// Sets all times of an export to so many seconds ago.
const AGO: &str = "sed -E \"s/1[0-9]{12}/$(($(date +%s) - $1))000/g\"\n";

/// Waits until a command succeeds. After half a minute it fails, and shows what the receiver printed.
const AWAIT: &str =
    "for attempt in $(seq 300); do sh -c \"$1\" && exit; sleep 0.1; done; cat listens; exit 1\n";

/// Runs a command with the other arguments until it has printed a word, and shows what it printed.
const UNTIL: &str = "word=$1; shift; article-webhook \"$@\" --json >out & sh await \"grep -s '$word' out\" >&2\n\
    kill $!; wait $! && cat out\n";

/// Has a worker of an inbox pass on what is due.
const WORK: &str = "article-webhook listen --port 0 --no-page $T --forward-to $RECEIVER --inbox=$1 >listens 2>&1 &\n\
    sh await \"article-webhook inbox status $1 | grep '^oldest due  *nothing waits for a worker$'\"\n\
    code=$?; kill $!; wait; exit $code\n";

/// Sends to a receiver of an inbox, with the other arguments.
const RECEIVE: &str = "rm -f listens; article-webhook listen --port 0 --no-page $T --inbox=$1 >listens 2>&1 &\n\
    shift; sh await 'grep -s http:// listens' && article-webhook send $(grep -o 'http://[^ ]*' listens) $T \"$@\"\n\
    code=$?; kill $!; wait; exit $code\n";

/// Puts each of the files in the place of an inbox. Each command refuses it, and changes nothing in it.
const REFUSED: &str = "for file in \"$@\"; do cp $file inbox.db\n\
    for command in 'list inbox.db' 'show inbox.db job_dead' 'status inbox.db --full' 'status inbox.db --read-only' \\\n\
    'export inbox.db' 'requeue inbox.db job_dead' 'erase inbox.db --all --yes'; do\n\
    article-webhook inbox $command >out 2>&1; code=$?\n\
    case $code in 1 | 3 | 5) ! grep -e panicked -e SELECT out && cmp inbox.db $file ;; *) false ;; esac ||\n\
    { echo \"$file $command: $code\"; cat out; exit 1; }; done; done\n";

pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    folder: TempDir,
    /// What a command may name, and what stands in its output in place of what differs each time.
    variables: Vec<(&'static str, String)>,
    _services: [Simulator; 3],
}

impl Stage {
    pub(crate) fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let service = || Simulator::builder().clock(SimulatorClock::accelerated(10_000));
        let services = runtime.block_on(async {
            let fails = Rule::new(Fault::StepFails(Step::Draft)).topic("Fails");
            let limit = Rule::new(Fault::ApiRateLimited(Duration::from_secs(3600))).nth(1);
            [
                service().brand("brand_1").fault(fails).start().await.unwrap(),
                service().start().await.unwrap(),
                service().brand("brand_1").fault(limit).start().await.unwrap(),
            ]
        });
        let urls = services.each_ref().map(Simulator::base_url);
        let [api, without_a_brand, limits_its_first_call] = urls;
        let receiver = runtime.block_on(sample::receiver());
        let folder = tempfile::tempdir().unwrap();
        let variables = vec![
            ("ARTICLE_API_URL", api),
            ("WITHOUT_A_BRAND", without_a_brand),
            ("LIMITS", limits_its_first_call),
            ("ODD", odd()),
            ("RECEIVER", format!("http://{receiver}/")),
            ("PORT", receiver.port().to_string()),
            ("K", "--api-key-file key".to_owned()),
            ("T", "--token-file token".to_owned()),
            // A copy of the tool, as another user.
            (
                "U",
                "setpriv --reuid=65534 --regid=65534 --clear-groups ./article-webhook".to_owned(),
            ),
        ];
        let stage = Self { runtime, folder, variables, _services: services };
        for (name, text) in [
            // As an editor of Windows ends a line: no other test has a secret that ends so.
            ("key", "sk-simulator\r\n"),
            ("token", TOKEN),
            (
                "service.env",
                "ARTICLE_API_KEY=sk-simulator\nARTICLE_WEBHOOK_TOKEN='Bearer 5f2b9c0e7a1d4e38'\n",
            ),
            ("brand.json", "{\"name\":\"Shoes\"}\n"),
            ("ids", "job_lost\n"),
            ("known", KNOWN),
            ("ago", AGO),
            ("receive", RECEIVE),
            ("work", WORK),
            ("await", AWAIT),
            ("until", UNTIL),
            ("refused", REFUSED),
        ] {
            fs::write(stage.path(name), text).unwrap();
        }
        stage.runtime.block_on(sample::fill(&stage.path("inbox.db")));
        stage
    }

    /// With the files of a receiver that was killed after twenty deliveries, of which the last ten are in the log alone, with a
    /// backup of the first ten, and with a database of another program.
    pub(crate) fn killed() -> Self {
        let stage = Self::new();
        let deliver = async |jobs: Range<u32>| {
            let inbox = Inbox::open(stage.path("used.db")).await.unwrap();
            for job in jobs {
                let request = fixture::minimal().job_id(&format!("job_{job:02}"));
                sample::deliver(&inbox, request).await;
            }
            inbox
        };
        stage.runtime.block_on(async {
            deliver(0..10).await.close().await.unwrap();
            stage.works("cp used.db backup.db");
            let receiver = deliver(10..20).await;
            stage.works("for it in '' -wal -shm -lock; do cp used.db$it killed.db$it; done");
            receiver.close().await.unwrap();
        });
        stage.sql("shop.db", "CREATE TABLE shop (id)");
        stage
    }

    /// What another program does to a database.
    pub(crate) fn sql(&self, database: &str, statement: &str) {
        Connection::open(self.path(database)).unwrap().execute_batch(statement).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn shell(&self, command: &str) -> Command {
        let bin = PathBuf::from(env!("CARGO_BIN_EXE_article-webhook"));
        let path = format!("{}:{}", bin.parent().unwrap().display(), env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.path("")).env("PATH", path);
        for name in VARIABLES {
            shell.env_remove(name);
        }
        shell.envs(self.variables.iter().map(|(name, value)| (name, value)));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell
    }

    fn shown(&self, text: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap().display().to_string();
        let shown = text.replace(&format!("{folder}/"), "").replace(&folder, ".");
        self.variables
            .iter()
            .fold(shown, |shown, (name, value)| shown.replace(value, &format!("${name}")))
    }

    /// The exit code of a command, and what it prints.
    pub(crate) fn ended(&self, command: &str) -> (Option<i32>, String, String) {
        let (exit, out, error) = ended(&mut self.shell(command));
        (exit, self.shown(&out), self.shown(&error))
    }

    /// A command is refused with exactly this text, and prints nothing else. Returns its exit code.
    #[track_caller]
    pub(crate) fn refuses(&self, command: &str, refusal: &str) -> i32 {
        let (exit, out, error) = self.ended(command);
        assert_eq!((error.trim_end(), &*out), (refusal, ""), "{command}: {exit:?}");
        exit.filter(|exit| *exit > 0).unwrap_or_else(|| panic!("{command}: {exit:?}"))
    }

    /// The same, and commands that do what the text says. They succeed.
    #[track_caller]
    pub(crate) fn follow(&self, command: &str, refusal: &str, ways: &[&str]) {
        self.refuses(command, refusal);
        for way in ways {
            self.works(way);
        }
    }

    #[track_caller]
    pub(crate) fn works(&self, command: &str) -> String {
        if GO_ON.iter().any(|name| command.contains(name)) {
            let (line, error) = self.first_line(command);
            assert!(!line.is_empty(), "{command}: {error}");
            return line;
        }
        let (exit, out, error) = self.ended(command);
        assert_eq!(exit, Some(0), "{command}: {out}{error}");
        out
    }

    /// The first line that a command prints which goes on until it is ended, and what it reports.
    pub(crate) fn first_line(&self, command: &str) -> (String, String) {
        let mut process = self.shell(command).process_group(0).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let _ = kill_process_group(Pid::from_child(&process), Signal::TERM);
        let mut error = String::new();
        process.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        process.wait().unwrap();
        (line, error)
    }
}

/// A server whose answer the first part of the path names: its status, and what else it is.
fn odd() -> String {
    serve(|request| {
        let path = request.head.split(' ').nth(1).unwrap();
        let (status, kind) = path.split('/').nth(1).unwrap().split_once('-').unwrap();
        match kind {
            "none" => String::new(),
            "silent" => {
                thread::sleep(Duration::from_secs(60));
                String::new()
            }
            "empty" => answer(status, "", ""),
            // In a hundred years.
            "later" => answer(status, "Retry-After: 3155760000\r\n", ""),
            "moved" => answer(status, "Location: /\r\n", ""),
            "code" => refusal(status, "internal"),
            "unfinished" => answer(status, "", r#"{"job_id":"job_1","status":"writing"}"#),
            "text" => answer(status, "", "<h1>nothing here</h1>"),
            _ => answer(status, "Content-Type: text/html\r\n", "<h1>nginx</h1>"),
        }
    })
}
