//! What becomes of each kind of odd body and of each status, in each style of mounting: through the real frameworks, into an
//! inbox, and from the API through the collector.
//!
//! What is seen is written as a table, and compared with `table.md`. Where the table changes on purpose, the test with
//! `WRITE=1` in its environment writes it.

mod api;
mod extractors;
mod inboxes;
mod log;
mod rows;
mod seen;

use std::{env, fs, path::Path};

use rows::{Row, rows};
use seen::Seen;

const TABLE: &str = include_str!("table.md");

#[test]
fn each_odd_body_ends_as_the_table_says() {
    log::observe();
    let rows = rows();
    let extractors = extractors::ALL.map(|(name, send)| (name, see(&rows, send)));
    let inboxes = inboxes::ALL.map(|(name, send)| (name, see(&rows, send)));
    let api = [("The API, through the collector", see(&rows, api::ask))];
    for (row, seen) in rows.iter().zip(&inboxes[0].1).chain(rows.iter().zip(&api[0].1)) {
        assert!(!seen.is_silent(), "{}: {seen:?}", row.name);
    }
    let table = [
        "What becomes of odd bodies. The test beside this page writes it.\n".to_owned(),
        section("## An extractor\n", &rows, &extractors),
        section("## A sink with an inbox\n", &rows, &inboxes),
        section("## A poll\n", &rows, &api),
    ];
    let table = table.join("\n");
    if env::var_os("WRITE").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("odd_bodies/table.md");
        fs::write(path, &table).expect("the table can be written");
    } else {
        assert!(table == TABLE, "what is seen is not what table.md says:\n\n{table}");
    }
}

fn see(rows: &[Row], send: fn(&Row) -> Seen) -> Vec<Seen> {
    rows.iter().map(send).collect()
}

/// Tables, one for all styles in which the same is seen.
fn section<const N: usize>(title: &str, rows: &[Row], styles: &[(&str, Vec<Seen>); N]) -> String {
    let mut section = title.to_owned();
    for (number, (_, seen)) in styles.iter().enumerate() {
        if styles[..number].iter().any(|(_, before)| before == seen) {
            continue;
        }
        let same = styles.iter().filter(|(_, other)| other == seen).map(|(name, _)| *name);
        section += &format!("\n{}:\n\n{}", same.collect::<Vec<_>>().join("; "), table(rows, seen));
    }
    section
}

/// A table without columns that are empty.
fn table(rows: &[Row], seen: &[Seen]) -> String {
    let cells: Vec<_> = seen.iter().map(Seen::cells).collect();
    let is_used = |column: &usize| cells.iter().any(|cells| !cells[*column].is_empty());
    let columns: Vec<_> = (0..Seen::COLUMNS.len()).filter(is_used).collect();
    let line = |first: &str, cell: &dyn Fn(usize) -> String| {
        let cells: String = columns.iter().map(|column| format!(" {} |", cell(*column))).collect();
        format!("| {first} |{cells}\n")
    };
    let mut table = line("body", &|column| Seen::COLUMNS[column].to_owned());
    table += &line("---", &|_| "---".to_owned());
    for (row, cells) in rows.iter().zip(&cells) {
        table += &line(&row.name, &|column| cells[column].clone());
    }
    table
}
