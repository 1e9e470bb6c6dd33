use std::process::Output;

use article_webhook_axum::fixture;

use crate::program::{Program, command};

fn check(url: &str, token: &str) -> Output {
    command("check_receiver").arg(url).env("ARTICLE_WEBHOOK_TOKEN", token).output().unwrap()
}

#[test]
fn an_article_is_ordered_delivered_and_read() {
    let output = command("order_article").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = out.lines().collect();
    let line = |index: usize| lines.get(index).copied().unwrap_or_default();
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(line(0).starts_with("service    http://127.0.0.1:"), "{out}");
    assert!(line(1).starts_with("ordered    job_"), "{out}");
    let received = r#"received   "How to choose running shoes", some "#;
    assert!(lines.iter().any(|line| line.starts_with(received)), "{out}");
    assert!(line(lines.len() - 1).starts_with("read       the same article"), "{out}");
}

/// The table is missing for as long as the service tries, and then the worker hands over what was polled.
#[test]
fn a_sink_of_the_application_gets_what_was_polled() {
    let output = command("sink_collector").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    let ends = |start: &str, end: &str| {
        out.lines().any(|line| line.starts_with(start) && line.ends_with(end))
    };
    assert!(ends("stored     post-1  job_", "  delivered, and in the table already"), "{out}");
    assert!(ends("missed     post-2  job_", "  after four attempts"), "{out}");
    assert!(ends("stored     post-2  job_", "  polled, and handed over to the table"), "{out}");
    assert!(out.ends_with("\nresult     2 rows; 1 was delivered, 1 was polled\n"), "{out}");
}

/// The service tries each delivery four times in vain, and then all articles come by polling.
#[test]
fn ten_articles_are_collected_after_an_outage_each_once() {
    let output = command("collect").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    let lines = |label: &str| {
        let lines = out.lines().filter_map(|line| line.strip_prefix(label)?.strip_prefix("  "));
        let mut lines: Vec<_> =
            lines.map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        lines.sort();
        lines
    };
    let orders =
        |label| lines(label).into_iter().map(|line| line[..2].to_vec()).collect::<Vec<_>>();
    let ordered = orders("ordered  ");
    assert_eq!(ordered.len(), 10, "{out}");
    assert_eq!((orders("missed   "), orders("published")), (ordered.clone(), ordered), "{out}");
    let is_tried_four_times = |line: &Vec<&str>| line[2..4] == ["tried", "at"] && line.len() == 8;
    assert!(lines("missed   ").iter().all(is_tried_four_times), "{out}");
    let result = "\nresult     10 articles, each published once\n           0 were delivered, 10 were polled\n";
    assert!(out.contains(result), "{out}");
}

#[test]
fn a_receiver_of_ours_passes_and_one_that_knows_another_token_does_not() {
    let program = Program::start("axum");
    let url = format!("http://{}/webhooks/articles", program.address);

    let right = check(&url, fixture::TOKEN);
    let out = String::from_utf8(right.stdout).unwrap();
    assert_eq!(right.status.code(), Some(0), "{out}");
    assert!(out.contains(" 0 failed") && out.contains("pass    the token twice"), "{out}");

    let wrong = check(&url, "Bearer another-token-1234");
    let out = String::from_utf8(wrong.stdout).unwrap();
    assert_eq!(wrong.status.code(), Some(1), "{out}");
    assert!(out.contains("does not accept the token") && !out.contains(" 0 failed"), "{out}");
    let notice = String::from_utf8(wrong.stderr).unwrap();
    assert!(notice.contains("will accept and publish") && notice.contains("`check-`"), "{notice}");
}
