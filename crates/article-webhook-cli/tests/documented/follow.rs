//! Follows the pages.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    excerpt, expected,
    pages::{self, Page, Place, Step},
    stage::{Stage, TOKEN, alone},
};

/// How long a command may take, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

const LOOK: Duration = Duration::from_millis(20);

/// Commands that run until Ctrl-C, and what they print once they do what the page wants of them.
const ENDLESS: [(&str, &str); 4] = [
    ("article-webhook listen", "Ctrl-C ends it"),
    ("article-webhook simulate", " 200"),
    ("article-webhook demo", "published"),
    ("article-webhook inbox page", "http://"),
];

/// What a page is followed with.
struct Run<'a> {
    page: &'a Page,
    stage: Stage,
    /// Where the output of commands is kept.
    outputs: tempfile::TempDir,
    /// Those that the page begins with, and those that it sets.
    given: Vec<(String, String)>,
    variables: Vec<(String, String)>,
    running: Vec<(String, Child)>,
    commands: usize,
    faults: Vec<String>,
}

impl<'a> Run<'a> {
    fn of(page: &'a Page) -> Self {
        let stage = Stage::of(page);
        let variables = stage.variables.iter().cloned();
        let mut variables: Vec<_> =
            variables.map(|(name, value)| (name.to_owned(), value)).collect();
        #[cfg(feature = "postgres")]
        if let Some(url) = page.text.contains("DATABASE_URL").then(database).flatten() {
            variables.push(("DATABASE_URL".to_owned(), url));
        }
        variables.push(("NO_COLOR".to_owned(), "1".to_owned()));
        Self {
            page,
            stage,
            outputs: tempfile::tempdir().unwrap(),
            given: variables.clone(),
            variables,
            running: Vec::new(),
            commands: 0,
            faults: Vec::new(),
        }
    }

    /// Follows the page. Returns how many commands ran, and what was wrong.
    fn followed(mut self) -> (usize, Vec<String>) {
        for step in self.page.steps() {
            match step {
                Step::End => self.end(),
                Step::Session => self.variables.clone_from(&self.given),
                Step::Command(command) if expected::is_run(self.page, &command.text) => {
                    self.command(&command);
                }
                Step::Command(_) => {}
            }
        }
        self.end();
        (self.commands, std::mem::take(&mut self.faults))
    }

    fn command(&mut self, command: &pages::Command) {
        let text = &command.text;
        if let Some(set) = text.strip_prefix("export ") {
            let set = shlex::split(set).unwrap();
            let set = set.iter().filter_map(|word| word.split_once('='));
            // What a command makes or reads on a page is a token, and the one of the stage stands for it.
            let value = |value: &str| if value.contains("$(") { TOKEN } else { value }.to_owned();
            self.variables.extend(set.map(|(name, text)| (name.to_owned(), value(text))));
            return;
        }
        if text.contains("env:DATABASE_URL")
            && self.variables.iter().all(|(name, _)| name != "DATABASE_URL")
        {
            return;
        }
        self.commands += 1;
        let runs = self.stage.set(text);
        let output = self.outputs.path().join(self.commands.to_string());
        let _alone = alone(text);
        let mut child = self.start(&runs, &output);
        let endless = ENDLESS.iter().find(|(command, _)| text.starts_with(command));
        if let Some((_, until)) = endless.filter(|_| !text.contains("--headless")) {
            match wait(&mut child, || printed(&output).contains(until)) {
                Waited::Until => self.running.push((text.clone(), child)),
                Waited::Ended(code) => self.fault(text, &format!("ended with {code:?}"), &output),
                Waited::TooLong => self.fault(text, &format!("did not print {until:?}"), &output),
            }
            return;
        }
        let Waited::Ended(code) = wait(&mut child, || false) else {
            let _ = child.kill();
            return self.fault(text, "did not end", &output);
        };
        let output_text = printed(&output);
        let is_short = command.place == Place::Sentence
            && (output_text.contains("required arguments were not provided"));
        if code == Some(2) && is_short {
            return;
        }
        let end = expected::end(self.page, text);
        let exit = end.map_or(0, |end| end.exit);
        if code != Some(exit) {
            self.fault(text, &format!("ended with {code:?} in place of {exit}"), &output);
        }
        if let Some(end) = end.filter(|end| !output_text.contains(end.prints)) {
            self.fault(text, &format!("did not print {:?}", end.prints), &output);
        }
        // What the demo prints differs from run to run: the tool's own tests compare it.
        let prints = &command.prints[..];
        let prints = if text.starts_with("article-webhook demo") { &[] } else { prints };
        if let Some(line) = excerpt::differs(prints, &output_text) {
            self.fault(text, &format!("did not print what the page shows: {line}"), &output);
        }
    }

    /// As a shell runs it in the page's folder, with the tool that was built first on the path.
    fn start(&self, command: &str, output: &Path) -> Child {
        let tool = PathBuf::from(env!("CARGO_BIN_EXE_article-webhook"));
        let mut path = OsString::from(tool.parent().unwrap());
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        let file = fs::File::create(output).unwrap();
        let mut shell = Command::new("sh");
        // Variables that are set for one command stand before its name.
        shell.arg("-c").arg(format!("exec env {command}")).current_dir(self.stage.folder.path());
        shell.env("PATH", path).env_remove("ARTICLE_WEBHOOK_TOKEN");
        shell.env_remove("ARTICLE_INBOX_READ_ONLY").envs(self.variables.iter().cloned());
        shell.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        shell.spawn().unwrap()
    }

    /// Ends what runs, the last first, as Ctrl-C does.
    fn end(&mut self) {
        while let Some((command, mut child)) = self.running.pop() {
            let process = Pid::from_child(&child);
            // Again and again, as it may not have listened yet.
            let press = || kill_process(process, Signal::INT).is_err();
            match wait(&mut child, press) {
                Waited::Ended(Some(0)) => {}
                Waited::Ended(code) => {
                    self.faults.push(format!("{}: {command}: Ctrl-C: {code:?}", self.page.name));
                }
                _ => self.faults.push(format!("{}: {command}: Ctrl-C: no end", self.page.name)),
            }
        }
    }

    fn fault(&mut self, command: &str, what: &str, output: &Path) {
        self.faults.push(format!("{}: {command}: {what}\n{}", self.page.name, printed(output)));
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        for (_, child) in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

enum Waited {
    Until,
    Ended(Option<i32>),
    TooLong,
}

fn wait(child: &mut Child, mut until: impl FnMut() -> bool) -> Waited {
    let start = Instant::now();
    while start.elapsed() < TIMEOUT {
        if let Some(status) = child.try_wait().unwrap() {
            return Waited::Ended(status.code());
        }
        if until() {
            return Waited::Until;
        }
        thread::sleep(LOOK);
    }
    Waited::TooLong
}

fn printed(output: &Path) -> String {
    String::from_utf8_lossy(&fs::read(output).unwrap()).into_owned()
}

/// A database with the tables of an inbox, as a first receiver leaves it.
#[cfg(feature = "postgres")]
fn database() -> Option<String> {
    let url = crate::postgres_server::shared_url()?;
    let schema = format!("pages_{}", std::process::id());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let settings = article_webhook_postgres::PostgresSettings::new(&url).unwrap();
        let settings = settings.schema(&schema).unwrap();
        // The application's role on the page. A server that was named may have it.
        let client = settings.client().await.unwrap();
        drop(client.batch_execute("CREATE ROLE blog LOGIN").await);
        let store = article_webhook_postgres::PostgresStore::connect(settings).await.unwrap();
        article_webhook_inbox::Inbox::new(store).close().await.unwrap();
    });
    Some(format!("{url}?schema={schema}"))
}

#[test]
fn every_command_of_the_pages_runs_and_ends_as_the_page_says() {
    let mut pages = pages::all();
    pages.retain(|page| !page.commands().is_empty());
    let ends: Vec<_> = thread::scope(|scope| {
        let runs: Vec<_> =
            pages.iter().map(|page| scope.spawn(|| Run::of(page).followed())).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let commands: usize = ends.iter().map(|(commands, _)| commands).sum();
    let faults: Vec<_> = ends.into_iter().flat_map(|(_, faults)| faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(commands >= 40, "only {commands} commands were run");
}

#[test]
fn a_command_that_fails_and_one_that_does_not_end_as_expected_are_found() {
    let block = |commands: &str| Page {
        name: "a page".to_owned(),
        text: format!("`article-webhook get` reads.\n```text\n{commands}\n```\n"),
    };
    for (commands, found) in [
        ("article-webhook inbox list nowhere.db", "ended with Some(5) in place of 0"),
        ("article-webhook inbox lists inbox.db", "ended with Some(2) in place of 0"),
        (
            "article-webhook listen --inbox a.db\narticle-webhook listen --inbox b.db",
            "ended with Some(1)\nerror: cannot listen on port",
        ),
        ("$ article-webhook inbox list inbox.db\nwaiting  7", "waiting  7"),
        ("curl -sf http://127.0.0.1:8080/", "in place of 0"),
    ] {
        let (_, faults) = Run::of(&block(commands)).followed();
        assert!(faults.len() == 1 && faults[0].contains(found), "{commands}: {faults:?}");
    }
    let good = "$ A=b article-webhook inbox status inbox.db | grep ENTRIES\nENTRIES\n$ cargo demo";
    let (commands, faults) = Run::of(&block(good)).followed();
    assert_eq!((commands, faults), (3, vec![]));
}
