//! The table of the service's document names tests that exist, and covers the whole document.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{ROOT, files::sources};

const PAGE: &str = include_str!("../README.md");

const SECTIONS: [&str; 14] =
    ["1", "2.1", "2.2", "2.4", "3", "4", "5", "6", "6.1", "6.2", "6.3", "7", "8", "9"];

/// The sections that say what they do not show.
const WITH_GAPS: [&str; 8] = ["2.4", "3", "4", "5", "6.3", "7", "8", "9"];

/// What the document names, beside its calls.
const NAMES: &str = "\
    invalid_api_key credits_exhausted not_configured rate_limit_exceeded job_not_found generation_failed \
    ga4_not_connected invalid_request plan_required credits_remaining upgrade_url step credits_refunded \
    error message details Authorization Content-Type X-Service-Job-Id X-Service-Event article.complete \
    job_id status complete article featured_image social_posts linkedin x credits_used title html \
    meta_title meta_description eeat_score word_count url alt_text type name auth_token brand_id targets \
    topic webhook_url POST /v1";

const CALLS: [&str; 4] = [
    "GET /v1/content/articles/{job_id}",
    "POST /v1/content/articles",
    "POST /v1/config/publish-targets",
    "POST /v1/config/brand",
];

struct Row<'a> {
    section: &'a str,
    what: &'a str,
    /// The tests on the side of the service, and on that of the application.
    sides: [&'a str; 2],
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let table = page.split_once("| section | what |").expect("there is a table of the document").1;
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines.map(row).collect()
}

fn row(line: &str) -> Row<'_> {
    let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [section, what, service, application] = cells[..] else {
        panic!("a row has four cells: {line}");
    };
    Row { section, what, sides: [service, application] }
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

/// Everything that is wrong with the table.
fn faults(page: &str) -> Vec<String> {
    let rows = rows(page);
    let mut faults = Vec::new();
    for row in &rows {
        for side in row.sides {
            faults.extend(quoted(side).filter_map(fault));
            if !side.contains('`') {
                faults.push(format!("nothing shows: {}", row.what));
            }
        }
    }
    for section in SECTIONS {
        if rows.iter().all(|row| row.section != section) {
            faults.push(format!("no section {section}"));
        }
    }
    for section in WITH_GAPS {
        let is_gap = |row: &Row<'_>| row.section == section && row.what.starts_with("not shown: ");
        if !rows.iter().any(is_gap) {
            faults.push(format!("no gap of section {section}"));
        }
    }
    for name in NAMES.split_whitespace().chain(CALLS) {
        if !rows.iter().flat_map(|row| quoted(row.what)).any(|quoted| quoted == name) {
            faults.push(format!("no row names {name}"));
        }
    }
    faults
}

#[test]
fn every_row_of_the_document_is_shown_by_tests_that_exist() {
    assert_eq!(faults(PAGE), [""; 0]);
    assert!(rows(PAGE).len() >= 77, "the document has no fewer rows than before");
}

#[test]
fn a_table_with_a_fault_is_found_out() {
    let test = "every_field_of_the_result_reaches_the_application";
    for (right, wrong, found) in [
        (test, "rows", "has no test rows"),
        ("tests/end_to_end/document.rs", "tests/end_to_end/documents.rs", "there is no file"),
        ("src::a_status_keeps_its_name", "src::a_status_keeps", "has no test a_status_keeps"),
        ("tokens.txt::another token`", "tokens.txt::another`", "has no test another"),
        ("`word_count`", "`words`", "no row names word_count"),
        ("| 6.2 |", "| 6.1 |", "no section 6.2"),
        ("| 6.3 | not shown: ", "| 6.3 | ", "no gap of section 6.3"),
    ] {
        assert!(PAGE.contains(right), "{right}");
        let faults = faults(&PAGE.replace(right, wrong));
        assert!(faults.iter().any(|fault| fault.contains(found)), "{found}: {faults:?}");
    }
    let bare = "| section | what | a | b |\n|---|---|---|---|\n| 7 | errors | `tests/run` |  |\n";
    let faults = faults(bare);
    for found in ["`tests/run` is no path and test", "nothing shows: errors"] {
        assert!(faults.iter().any(|fault| fault == found), "{faults:?}");
    }
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
