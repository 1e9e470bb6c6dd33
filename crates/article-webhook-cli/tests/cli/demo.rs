//! The whole loop in one process.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::tool::{seen, text, tool};

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines that have this key.
fn having<'a>(lines: &'a [Value], key: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| !line[key].is_null()).collect()
}

#[test]
fn each_article_arrives_once_although_the_receiver_breaks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let demo = tool(["demo", "--headless", "--json", "--inbox", text(&file)]).output().unwrap();
    let (exit, out, error) = seen(&demo);
    assert_eq!((exit, &*error), (Some(0), ""));
    let lines = lines(&out);

    let (ordered, published) = (having(&lines, "ordered"), having(&lines, "published"));
    let jobs = |lines: &[&Value], key: &str| {
        let mut jobs: Vec<_> =
            lines.iter().map(|it| it[key].as_str().unwrap().to_owned()).collect();
        jobs.sort();
        jobs
    };
    assert_eq!(ordered.len(), 8);
    assert_eq!(jobs(&ordered, "ordered"), jobs(&published, "published"));
    let attempts = having(&lines, "attempted");
    assert!(attempts.iter().any(|it| it["answer_lost"] == true && it["status"] == 200));
    assert!(attempts.iter().any(|it| it["status"] == 503 && it["again_in_seconds"] == 60));
    let given_up: Vec<_> = attempts
        .into_iter()
        .filter(|it| it["attempt"] == 4 && it["again_in_seconds"].is_null())
        .collect();
    let collected: Vec<_> = published.into_iter().filter(|it| it["source"] == "api").collect();
    assert_eq!(given_up.len(), 2);
    assert_eq!(jobs(&given_up, "attempted"), jobs(&collected, "published"));

    let end = lines.last().unwrap();
    assert_eq!((&end["orders"], &end["collected"]), (&8.into(), &2.into()));
    assert_eq!((&end["missing"], &end["repeated"]), (&Value::Array(vec![]), &Value::Array(vec![])));

    let counts = tool(["inbox", "counts", text(&file), "--json"]).output().unwrap();
    let counts: Value = serde_json::from_slice(&counts.stdout).unwrap();
    assert_eq!((&counts["entries"]["done"], &counts["total"]), (&8.into(), &8.into()));
}

#[test]
fn ctrl_c_ends_the_story_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let mut demo = tool(["demo", "--headless", "--inbox", text(&file)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let ordered = lines.find(|line| line.as_ref().unwrap().contains("  ordered  "));
    assert!(ordered.is_some());
    kill_process(Pid::from_child(&demo), Signal::INT).unwrap();
    let rest = lines.count();
    let (exit, _, error) = seen(&demo.wait_with_output().unwrap());
    assert_eq!((exit, &*error), (Some(1), "error: interrupted\n"));
    assert!(rest < 20, "{rest} lines came after Ctrl-C");

    // The file can be opened, and is not damaged.
    let check = tool(["inbox", "check", text(&file)]).output().unwrap();
    assert_eq!(seen(&check).0, Some(0));
}
