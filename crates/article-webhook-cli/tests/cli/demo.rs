//! The whole loop in one process.

use serde_json::{Value, json};

use crate::{
    sample,
    tool::{run, text},
};

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines that have this key.
fn having<'a>(lines: &'a [Value], key: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| !line[key].is_null()).collect()
}

#[test]
fn each_article_arrives_once_although_the_receiver_breaks() {
    let (_folder, file) = sample::place();
    let (exit, out, error) = run(&["demo", "--headless", "--json", "--inbox", text(&file)]);
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
    let attempts = having(&lines, "job_id");
    assert!(
        attempts.iter().any(|it| it["faults"] == json!(["answer_lost"]) && it["status"] == 200)
    );
    assert!(attempts.iter().any(|it| it["status"] == 503 && it["again_in_seconds"] == 60));
    let given_up: Vec<_> = attempts
        .into_iter()
        .filter(|it| it["attempt"] == 4 && it["again_in_seconds"].is_null())
        .collect();
    let collected: Vec<_> = published.into_iter().filter(|it| it["source"] == "api").collect();
    assert_eq!(given_up.len(), 2);
    assert_eq!(jobs(&given_up, "job_id"), jobs(&collected, "published"));

    let end = lines.last().unwrap();
    assert_eq!((&end["orders"], &end["collected"]), (&8.into(), &2.into()));
    assert_eq!((&end["missing"], &end["repeated"]), (&Value::Array(vec![]), &Value::Array(vec![])));

    let (_, counts, _) = run(&["inbox", "status", text(&file), "--json"]);
    let counts: Value = serde_json::from_str(&counts).unwrap();
    assert_eq!((&counts["entries"]["done"], &counts["total"]), (&8.into(), &8.into()));
}

/// A line without what differs from run to run: times and the numbers of jobs.
fn steady(line: &str) -> String {
    let words = line.split_whitespace().filter(|word| !word.contains(':') || word.ends_with(':'));
    words
        .map(|word| if word.starts_with("job_") { "job" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The blocks of a page that show what the demo prints.
fn captures(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    blocks.map(|(block, _)| block).filter(|block| block.contains("  ordered    job_"))
}

#[test]
fn the_pages_show_what_the_demo_prints() {
    const START: &str = include_str!("../../../article-webhook/src/guide/start.md");
    const README: &str = include_str!("../../../../README.md");
    assert_eq!(captures(START).count(), 1);
    let (exit, out, error) = run(&["demo", "--headless"]);
    assert_eq!((exit, &*error), (Some(0), ""));
    let printed: Vec<_> = out.lines().map(steady).collect();
    for capture in captures(START).chain(captures(README)) {
        // Its command may stand above it, and what is left out.
        let shown = capture.lines().map(str::trim_end);
        let shown = shown.filter(|line| !line.starts_with("$ ") && *line != "…");
        assert!((6..=12).contains(&shown.clone().count()), "{capture}");
        for line in shown.map(steady) {
            assert!(printed.contains(&line), "a page shows {line:?}, and the demo prints {out}");
        }
    }
}
