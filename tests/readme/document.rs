//! The table of the service's document names tests that exist.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{ROOT, files::sources};

const PAGE: &str = include_str!("../README.md");

/// What each row is about, and the tests on the side of the service and on that of the application.
fn rows() -> Vec<(&'static str, [&'static str; 2])> {
    let table = PAGE.split_once("| section | what |").expect("there is a table of the document").1;
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &'static str| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, what, service, application] = cells[..] else {
            panic!("a row has four cells: {line}");
        };
        (what, [service, application])
    };
    lines.map(row).collect()
}

/// The texts in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Why a reference names no test.
fn fault(reference: &str) -> Option<String> {
    let Some((path, name)) = reference.split_once("::") else {
        return Some(format!("`{reference}` is no path and test"));
    };
    let place = Path::new(ROOT).join(path);
    if place.is_dir() {
        let is_there = sources(&place).iter().any(|(_, source)| is_test(source, name));
        return (!is_there).then(|| format!("{path} has no test {name}"));
    }
    let Ok(source) = fs::read_to_string(place) else {
        return Some(format!("there is no file {path}"));
    };
    let is_there = if path.starts_with("tests/conformance/table/") {
        source.lines().any(|line| line.split(" |").next() == Some(name))
    } else {
        is_test(&source, name)
    };
    (!is_there).then(|| format!("{path} has no test {name}"))
}

/// A function of that name right below an attribute such as `#[test]` or `#[tokio::test]`.
fn is_test(source: &str, name: &str) -> bool {
    let is_it = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ")
            .and_then(|line| line.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('('))
    };
    let lines: Vec<_> = source.lines().collect();
    lines.windows(2).any(|pair| pair[0].trim().ends_with("test]") && is_it(pair[1]))
}

#[test]
fn every_row_of_the_document_is_shown_by_tests_that_exist() {
    let rows = rows();
    for (what, sides) in &rows {
        for side in sides {
            assert!(side.contains('`'), "nothing shows: {what}");
            assert_eq!(quoted(side).filter_map(fault).collect::<Vec<_>>(), [""; 0]);
        }
    }
    assert!(rows.len() >= 77, "the document has no fewer rows than before");
}

#[test]
fn every_entry_of_the_folder_has_its_line() {
    let lines: BTreeSet<_> = PAGE.lines().take_while(|line| !line.starts_with("## ")).collect();
    let named: BTreeSet<_> = lines.iter().flat_map(|line| quoted(line)).collect();
    for entry in fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("there is a folder") {
        let name =
            entry.expect("it can be read").file_name().into_string().expect("names are UTF-8");
        let is_said = named.contains(&*name) || name.starts_with('.');
        assert!(is_said || ["Cargo.toml", "README.md"].contains(&&*name), "{name} has no line");
    }
}
