//! A folder with an inbox, a service and a receiver, and a shell in which the tool is used.

use std::{
    env, fs,
    io::{Read, Write},
    net::TcpListener,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use article_webhook_simulator::{Fault, Rule, Simulator, SimulatorClock, Step};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    first_line, sample,
    tool::{TOKEN, seen},
};

/// The commands that go on until they are ended.
const GO_ON: [&str; 3] =
    ["article-webhook listen", "article-webhook inbox page", "article-webhook simulate"];

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
            ("LOST", answers("")),
            ("MOVED", answers("HTTP/1.1 308 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")),
            ("RECEIVER", format!("http://{receiver}/")),
            ("PORT", receiver.port().to_string()),
            ("K", "--api-key-file key".to_owned()),
            ("T", "--token-file token".to_owned()),
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
        ] {
            fs::write(stage.path(name), text).unwrap();
        }
        stage.runtime.block_on(sample::fill(&stage.path("inbox.db")));
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn shell(&self, command: &str) -> Command {
        let bin = PathBuf::from(env!("CARGO_BIN_EXE_article-webhook"));
        let path = format!("{}:{}", bin.parent().unwrap().display(), env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.path("")).env("PATH", path);
        for name in ["ARTICLE_API_KEY", "ARTICLE_WEBHOOK_TOKEN", "ARTICLE_INBOX_READ_ONLY"] {
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

    /// A command is refused with exactly this text. Returns its exit code.
    #[track_caller]
    pub(crate) fn refuses(&self, command: &str, refusal: &str) -> i32 {
        let (exit, _, error) = seen(&self.shell(command).output().unwrap());
        assert_eq!(self.shown(error.trim_end()), refusal, "{command}: {exit:?}");
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

    /// What a command prints, whether it succeeds or not.
    pub(crate) fn output(&self, command: &str) -> String {
        self.shown(&seen(&self.shell(command).output().unwrap()).1)
    }

    #[track_caller]
    pub(crate) fn works(&self, command: &str) -> String {
        let mut shell = self.shell(command);
        if !GO_ON.iter().any(|name| command.contains(name)) {
            let (exit, out, error) = seen(&shell.output().unwrap());
            assert_eq!(exit, Some(0), "{command}: {out}{error}");
            return self.shown(&out);
        }
        let (line, error) = first_line(&mut shell);
        assert!(!line.is_empty(), "{command}: {error}");
        line
    }
}

/// A service that reads each call, gives this answer, and hangs up.
fn answers(with: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(with.as_bytes());
        }
    });
    url
}
