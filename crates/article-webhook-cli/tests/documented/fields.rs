//! The lines of JSON that commands print are those that the README names and that `schema.json` describes.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Stdio,
    thread::sleep,
    time::Duration,
};

use article_webhook_inbox::Inbox;
use article_webhook_simulator::{Simulator, SimulatorClock};
use serde_json::{Value, json};

use crate::{
    pages::Page,
    running::Running,
    stage::{KEY, Stage, alone},
};

const README: &str = include_str!("../../README.md");
const SCHEMA: &str = include_str!("../../schema.json");

/// The types of each row of the README's table.
fn table() -> BTreeMap<&'static str, BTreeSet<String>> {
    let (_, table) = README.split_once("| command | types of its lines |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let rows = rows.map(|row| row.trim_matches('|').split_once(" | ").unwrap());
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.map(|(commands, fields)| (commands.trim(), quoted(fields))).collect()
}

/// The type of a line, which has all that the schema says of it and no more.
fn type_of(line: &Value) -> String {
    let name = line["type"].as_str().unwrap_or_else(|| panic!("without a type: {line}"));
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"] });
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    if let Err(error) = schema.validate(line) {
        panic!("{error}: {line}");
    }
    name.to_owned()
}

/// What a command prints that succeeds.
fn lines(stage: &Stage, command: &str) -> Vec<Value> {
    let (arguments, field) = command.split_once(" until ").unwrap_or((command, "nothing"));
    let _alone = alone(arguments);
    let mut shell = stage.shell(&format!("exec article-webhook {arguments} --json"));
    let mut running = Running::of(shell.stdout(Stdio::piped()).stderr(Stdio::null()));
    let mut printed = Vec::new();
    for line in running.lines.take().unwrap() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if let Some(receiver) = line["listening"].as_str() {
            let send = format!("article-webhook send {receiver}");
            let sent = stage.shell(&format!("! {send} --fault no-token && {send}")).output();
            assert!(sent.unwrap().status.success(), "{line}");
        }
        // Again, as it may not have listened yet.
        while line.get(field).is_some() && running.process.try_wait().unwrap().is_none() {
            running.interrupt();
            sleep(Duration::from_millis(20));
        }
        printed.push(line);
    }
    assert_eq!(running.ended(), Some(0), "{command}: {printed:?}");
    printed
}

#[test]
fn each_command_prints_lines_of_the_types_that_the_readme_names() {
    let mut stage = Stage::of(&Page { name: "the fields".to_owned(), text: String::new() });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let slow = Simulator::builder().clock(SimulatorClock::stepped()).api_key(KEY).brand("brand_1");
    let (slow, unfinished) = runtime.block_on(async {
        let other = Inbox::open(stage.folder.path().join("other.db")).await.unwrap();
        other.close().await.unwrap();
        let slow = slow.start().await.unwrap();
        let unfinished = slow.order("Shoes").await.unwrap().job_id;
        (slow, unfinished)
    });
    for (name, value) in [("UNFINISHED", unfinished), ("SLOW", slow.base_url())] {
        stage.variables.push((name.to_owned(), value));
    }
    let mut documented = table();
    for row in include_str!("fields.txt").split("\n# ").skip(1) {
        let (row, commands) = row.split_once('\n').unwrap();
        let mut types = BTreeSet::new();
        for command in commands.lines() {
            match command.strip_prefix("+ ") {
                Some(other) => types.extend(other.split(':').next().map(str::to_owned)),
                None => types.extend(lines(&stage, command).iter().map(type_of)),
            }
        }
        assert_eq!(documented.remove(row), Some(types), "{row}");
    }
    assert_eq!(documented, BTreeMap::new(), "nothing is run for it");
    let refused = stage.shell("article-webhook inbox list nowhere.db --json").output().unwrap();
    let error: Value = serde_json::from_slice(&refused.stderr).unwrap();
    assert_eq!((type_of(&error), &error["code"]), ("error".to_owned(), &"store".into()));
}
