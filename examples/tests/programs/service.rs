use std::{
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use article_webhook_axum::fixture;

use crate::program::{Program, command};

fn check(url: &str, token: &str) -> Output {
    command("check_receiver").arg(url).env("ARTICLE_WEBHOOK_TOKEN", token).output().unwrap()
}

#[test]
fn an_article_is_ordered_delivered_and_read() {
    let output = command("order_article").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = said.lines().collect();
    let line = |index: usize| lines.get(index).copied().unwrap_or_default();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(line(0).starts_with("service    http://127.0.0.1:"), "{said}");
    assert!(line(1).starts_with("ordered    job_"), "{said}");
    let received = r#"received   "How to choose running shoes", some "#;
    assert!(lines.iter().any(|line| line.starts_with(received)), "{said}");
    assert!(line(lines.len() - 1).starts_with("read       the same article"), "{said}");
}

/// The table is missing for as long as the service tries, and then the worker hands over what was polled.
#[test]
fn a_sink_of_the_application_gets_what_was_polled() {
    let output = command("sink_collector").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let ends = |start: &str, end: &str| {
        said.lines().any(|line| line.starts_with(start) && line.ends_with(end))
    };
    assert!(ends("stored     post-1  job_", "  delivered, and in the table already"), "{said}");
    assert!(ends("missed     post-2  job_", "  after four attempts"), "{said}");
    assert!(ends("stored     post-2  job_", "  polled, and handed over to the table"), "{said}");
    assert!(said.ends_with("\nresult     2 rows; 1 was delivered, 1 was polled\n"), "{said}");
}

/// The service tries each delivery four times in vain, and then all articles come by polling.
#[test]
fn ten_articles_are_collected_after_an_outage_each_once() {
    collected_after_an_outage(&mut command("collect"));
}

/// The orders then take longer than the service takes to generate the first article.
#[cfg(target_os = "linux")]
#[test]
fn they_are_collected_as_well_where_the_disk_is_slow() {
    let mut slow = Command::new("strace");
    slow.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", "/dev/null"]);
    slow.args(["-e", "inject=fsync,fdatasync:delay_exit=60000"]); // microseconds
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("programs: skipped: there is no strace, which makes the disk slow");
        return;
    }
    collected_after_an_outage(slow.arg(command("collect").get_program()));
}

fn collected_after_an_outage(command: &mut Command) {
    let began = Instant::now();
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let lines = |label: &str| {
        let lines = said.lines().filter_map(|line| line.strip_prefix(label)?.strip_prefix("  "));
        let mut lines: Vec<_> =
            lines.map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        lines.sort();
        lines
    };
    let orders =
        |label| lines(label).into_iter().map(|line| line[..2].to_vec()).collect::<Vec<_>>();
    let ordered = orders("ordered  ");
    assert_eq!(ordered.len(), 10, "{said}");
    assert_eq!((orders("missed   "), orders("published")), (ordered.clone(), ordered), "{said}");
    let is_tried_four_times = |line: &Vec<&str>| line[2..4] == ["tried", "at"] && line.len() == 8;
    assert!(lines("missed   ").iter().all(is_tried_four_times), "{said}");
    let result = "\nresult     10 articles, each published once\n           0 were delivered, 10 were polled\n";
    assert!(said.contains(result), "{said}");
    assert!(
        said.lines().last().unwrap().contains("cargo doc -p article-webhook-collector"),
        "{said}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "it takes a few seconds on a machine at rest"
    );
}

#[test]
fn a_receiver_of_ours_passes_and_one_that_knows_another_token_does_not() {
    let program = Program::start("axum");
    let url = format!("http://{}/webhooks/articles", program.address);

    let right = check(&url, fixture::TOKEN);
    let said = String::from_utf8(right.stdout).unwrap();
    assert_eq!(right.status.code(), Some(0), "{said}");
    assert!(said.contains(" 0 failed") && said.contains("pass    the token twice"), "{said}");

    let wrong = check(&url, "Bearer another-token-1234");
    let said = String::from_utf8(wrong.stdout).unwrap();
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("does not accept the token") && !said.contains(" 0 failed"), "{said}");
    let notice = String::from_utf8(wrong.stderr).unwrap();
    assert!(notice.contains("will accept and publish") && notice.contains("`check-`"), "{notice}");
}

#[test]
fn the_check_outlives_the_program_that_reads_its_report() {
    let program = Program::start("axum");
    let url = format!("http://{}/webhooks/articles", program.address);
    let mut check = command("check_receiver");
    let check = check.arg(url).env("ARTICLE_WEBHOOK_TOKEN", fixture::TOKEN);
    let mut check = check.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((check.stdout.take(), check.stderr.take()));
    assert_eq!(check.wait().unwrap().code(), Some(0));
}

#[test]
fn without_url_or_token_the_command_to_run_is_shown() {
    let output = command("check_receiver").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: give the receiver's URL"), "{said}");
    assert!(said.contains("--example check_receiver -- http://127.0.0.1:3000/webhooks/articles"));
}
