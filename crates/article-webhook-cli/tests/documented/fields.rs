//! The lines of JSON that commands print are those that the README names and that `schema.json` describes.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use article_webhook_inbox::Inbox;
use article_webhook_simulator::{Simulator, SimulatorClock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    pages::Page,
    schema::type_of,
    stage::{Stage, alone},
};

const README: &str = include_str!("../../README.md");

/// A row of the README's table: its commands, what is run for it, and types that this does not print.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

/// In this order, as a later one changes what an earlier one shows. What ends with ` until FIELD` is ended by Ctrl-C once a
/// line has this field.
const ROWS: [Row; 24] = [
    (
        "`inbox list`, a dry run",
        &["inbox list inbox.db", "inbox requeue inbox.db --all --dry-run"],
        &[],
    ),
    ("`inbox show`", &["inbox show inbox.db DEAD"], &[]),
    ("`inbox causes`", &["inbox causes inbox.db"], &[]),
    ("`inbox jobs`", &["inbox jobs inbox.db"], &[]),
    ("`inbox status`", &["inbox status other.db --full"], &[]),
    (
        "`inbox export --output`, `import`",
        &["inbox export inbox.db --output lines", "inbox import other.db lines"],
        &[],
    ),
    ("`inbox pause`, `resume`", &["inbox pause other.db", "inbox resume other.db"], &[]),
    #[cfg(feature = "postgres")]
    (
        "`inbox migrate`",
        &["inbox migrate postgresql://owner@db.example/blog --grant blog --sql"],
        &[],
    ),
    (
        "`inbox backup`, `restore`",
        &["inbox backup inbox.db copy.db", "inbox restore copy.db other.db"],
        &[],
    ),
    (
        "`inbox salvage`",
        &["inbox salvage other.db salvaged.db", "inbox salvage --begin begun.db"],
        &[],
    ),
    ("`inbox copy`", &["inbox copy salvaged.db begun.db"], &[]),
    ("`inbox orders-checked`", &["inbox orders-checked salvaged.db"], &[]),
    (
        "`inbox requeue`, `discard`, `erase`",
        &[
            "inbox requeue other.db DEAD",
            "inbox discard other.db --all --yes",
            "inbox erase other.db DEAD",
        ],
        &[],
    ),
    ("`inbox page`", &["inbox page inbox.db until page"], &[]),
    ("`order`", &["order Hats --intent hats --inbox inbox.db"], &[]),
    ("`get`", &["get UNFINISHED --api-url SLOW"], &[]),
    (
        "`brand`, `targets`",
        &["targets brand_1 --webhook-url RECEIVER --dry-run"],
        // The service answers with something.
        &["configured"],
    ),
    (
        "`collect`",
        &[
            "collect --inbox other.db --from jobs.txt --dry-run",
            "collect --inbox other.db --from jobs.txt",
            "collect --inbox inbox.db --from jobs.txt",
        ],
        &[],
    ),
    (
        "`listen`",
        &["listen --port 0 --inbox new.db --forward-to RECEIVER until forwarded"],
        // The test `unread` of the tool provokes it.
        &["lost"],
    ),
    (
        "`simulate`",
        &["simulate --speed 100 --deliver-to RECEIVER --order Shoes until milliseconds"],
        &["lost"],
    ),
    ("`demo`", &["demo --headless", "demo until page"], &["lost"]),
    ("`send`", &["send RECEIVER"], &[]),
    ("`check`", &["check RECEIVER"], &[]),
    ("`doctor`", &["doctor --url RECEIVER --inbox inbox.db"], &[]),
];

/// The commands and the types of each row of the README.
fn table() -> Vec<(&'static str, BTreeSet<String>)> {
    let (_, table) = README.split_once("| command | types of its lines |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let rows = rows.map(|row| row.trim_matches('|').split_once(" | ").unwrap());
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.map(|(commands, fields)| (commands.trim(), quoted(fields))).collect()
}

struct Tool {
    stage: Stage,
    words: [(&'static str, String); 4],
}

impl Tool {
    fn command(&self, arguments: &str) -> Command {
        let mut tool = self.plain(arguments);
        tool.arg("--json");
        tool
    }

    fn plain(&self, arguments: &str) -> Command {
        let words = self.words.iter();
        let arguments =
            words.fold(arguments.to_owned(), |text, (word, value)| text.replace(word, value));
        let mut tool = Command::new(env!("CARGO_BIN_EXE_article-webhook"));
        tool.args(arguments.split(' ')).current_dir(self.stage.folder.path());
        tool.envs(self.stage.variables.iter().map(|(name, value)| (name, value)));
        tool.env_remove("ARTICLE_INBOX_READ_ONLY").stdin(Stdio::null());
        tool
    }

    /// What a command prints that succeeds.
    fn lines(&self, arguments: &str) -> Vec<Value> {
        if let Some((arguments, field)) = arguments.split_once(" until ") {
            return self.lines_until(arguments, field);
        }
        let _alone = alone(arguments);
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments}: {output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn lines_until(&self, arguments: &str, field: &str) -> Vec<Value> {
        let mut tool = self.command(arguments);
        let mut child = tool.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if let Some(receiver) = line["listening"].as_str() {
                let refused = self.command(&format!("send {receiver} --fault no-token")).output();
                assert_eq!(refused.unwrap().status.code(), Some(1));
                self.lines(&format!("send {receiver}"));
            }
            // Again, as it may not have listened yet.
            while line.get(field).is_some() && child.try_wait().unwrap().is_none() {
                kill_process(Pid::from_child(&child), Signal::INT).unwrap();
                sleep(Duration::from_millis(20));
            }
            lines.push(line);
        }
        child.wait().unwrap();
        lines
    }
}

#[test]
fn each_command_prints_lines_of_the_types_that_the_readme_names() {
    let stage = Stage::of(&Page { name: "the fields".to_owned(), text: String::new() });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (slow, unfinished) = runtime.block_on(async {
        let other = Inbox::open(stage.folder.path().join("other.db")).await.unwrap();
        other.close().await.unwrap();
        let (_, key) = stage.variables.iter().find(|(name, _)| *name == "ARTICLE_API_KEY").unwrap();
        let slow = Simulator::builder()
            .clock(SimulatorClock::stepped())
            .api_key(key)
            .brand("brand_1")
            .start()
            .await
            .unwrap();
        let unfinished = slow.order("Shoes").await.unwrap().job_id;
        (slow, unfinished)
    });
    let words = [
        ("RECEIVER", stage.set("https://shop.example/webhooks/articles")),
        ("UNFINISHED", unfinished),
        ("DEAD", stage.dead.clone()),
        ("SLOW", slow.base_url()),
    ];
    let tool = Tool { stage, words };
    let table = table();
    let commands = |rows: Vec<&'static str>| rows.into_iter().collect::<BTreeSet<_>>();
    assert_eq!(
        commands(table.iter().map(|row| row.0).collect()),
        commands(ROWS.iter().map(|row| row.0).collect())
    );
    for (row, runs, others) in ROWS {
        let lines = runs.iter().flat_map(|run| tool.lines(run));
        let mut printed: BTreeSet<_> = lines.map(|line| type_of(&line)).collect();
        printed.extend(others.iter().map(|name| (*name).to_owned()));
        let documented = &table.iter().find(|it| it.0 == row).unwrap().1;
        assert_eq!(*documented, printed, "{row}");
    }
    let error = tool.command("inbox list nowhere.db").output().unwrap().stderr;
    let error: Value = serde_json::from_slice(&error).unwrap();
    assert_eq!((type_of(&error), &error["code"]), ("error".to_owned(), &"store".into()));
}

#[test]
fn a_receiver_that_is_sound_passes_every_question() {
    let stage = Stage::of(&Page { name: "a check".to_owned(), text: String::new() });
    let words = [""; 4].map(|_| ("RECEIVER", stage.set("https://shop.example/webhooks/articles")));
    let tool = Tool { stage, words };
    let findings = tool.lines("check RECEIVER");
    let (end, findings) = findings.split_last().unwrap();
    assert!(end["conformant"] == true && end["stopped"].is_null(), "{end}");
    assert!(findings.len() >= 70 && findings.iter().all(|it| it["verdict"] == "pass"));

    let _alone = alone("check RECEIVER");
    let output = tool.plain("check RECEIVER").output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    let passed = shown.lines().filter(|line| line.starts_with("pass  ")).count();
    assert_eq!(shown.lines().last(), Some(&*format!("{passed} passed, 0 failed, 0 with advice")));
    assert_eq!(passed, findings.len());
}
