//! One table of situations and answers, held against axum, actix-web and tower.
//!
//! The servers are spoken to over sockets of the loopback, in bytes that this suite writes itself,
//! so that a row can send what no client library would.

mod answers;
mod application;
mod call_log;
mod exchange;
mod request;
mod row;
mod run;
mod site;
mod table;
mod targets;
mod text;
mod tokens;
mod tokens_refused;
mod wire;

use std::{
    io::{self, Write},
    thread,
};

use article_webhook_tests::connection;
use run::run;
use targets::server::Framework;

#[test]
fn axum_actix_web_and_tower_answer_as_the_table_says() {
    let rows = table::rows();
    let reports = thread::scope(|scope| {
        let rows = &rows;
        let runs =
            Framework::ALL.map(|framework| scope.spawn(move || run(&framework.serve_all(), rows)));
        runs.map(|report| report.join().expect("the harness does not panic"))
    });
    let texts = reports.iter().flat_map(|report| &report.disagreements).map(String::as_str);
    let texts: Vec<_> = texts.collect();
    assert!(texts.is_empty(), "{} disagreements\n{}", texts.len(), texts.join("\n"));

    let counts = reports
        .map(|report| report.owed.iter().map(usize::to_string).collect::<Vec<_>>().join(" + "));
    let (rows, [axum, actix_web, tower]) = (rows.len(), counts);
    print(&format!(
        "conformance: answers: {rows} situations x axum ({axum}), actix-web ({actix_web}), tower ({tower}): sink + extractor + layer"
    ));
    assert!(rows >= 150, "the table has lost rows: {rows}");
}

/// Unlike what `println!` writes, it is seen when the tests pass.
fn print(line: &str) {
    writeln!(io::stdout(), "{line}").expect("there is an output");
}
