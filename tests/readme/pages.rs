//! The pages that are read on a code host have links and paths that lead somewhere.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{ROOT, files::sources};

const PAGES: [&str; 10] = [
    ".github/pull_request_template.md",
    "CODE_OF_CONDUCT.md",
    "README.md",
    "RELEASE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "tests/README.md",
    "tests/EVIDENCE.md",
    "tests/promises.txt",
];

/// What a path from the root begins with.
const ROOTS: [&str; 4] = ["crates/", "tests/", "examples/", ".ci/"];

/// The pages of the guide.
fn guide() -> Vec<String> {
    let folder = "crates/article-webhook/src/guide";
    let pages = fs::read_dir(Path::new(ROOT).join(folder)).expect("there is a guide");
    let names = pages.map(|entry| entry.expect("the entry can be read").file_name());
    names.map(|name| format!("{folder}/{}", name.to_string_lossy())).collect()
}

/// The README of each crate.
fn readmes() -> Vec<String> {
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).expect("there are crates");
    let names = crates.map(|entry| entry.expect("the entry can be read").file_name());
    names.map(|name| format!("crates/{}/README.md", name.to_string_lossy())).collect()
}

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).expect("the page exists")
}

/// The targets of relative links that are not there. Links to items are rustdoc's to check.
fn dead_links(path: &str, page: &str) -> Vec<String> {
    let folder = Path::new(ROOT).join(path);
    let folder = folder.parent().expect("a page is in a folder");
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = targets.map(|(target, _)| target.split('#').next().unwrap_or_default());
    let relative = targets.filter(|target| !target.contains("::") && !target.contains(':'));
    let dead = relative.filter(|target| !folder.join(target).exists());
    dead.map(|target| format!("{path}: the link to {target} leads nowhere")).collect()
}

/// The paths from the root in backticks that are not there.
fn dead_paths(path: &str, page: &str) -> Vec<String> {
    let quoted = page.split('`').skip(1).step_by(2);
    let is_path = |quoted: &&str| ROOTS.iter().any(|root| quoted.starts_with(root));
    let named = quoted.filter(is_path).filter_map(|quoted| quoted.split([' ', ':']).next());
    let dead = named.filter(|named| !named.contains('…') && !Path::new(ROOT).join(named).exists());
    dead.map(|named| format!("{path}: there is no {named}")).collect()
}

/// The names of Rust files in backticks, with some of their folders or without, that no file has.
fn dead_names(path: &str, page: &str, files: &[PathBuf]) -> Vec<String> {
    let quoted = page.split('`').skip(1).step_by(2);
    let names = quoted.filter(|name| name.ends_with(".rs") && !name.contains([' ', ':', '*', '…']));
    let dead = names.filter(|name| !files.iter().any(|file| file.ends_with(name)));
    dead.map(|name| format!("{path}: there is no {name}")).collect()
}

#[test]
fn links_and_paths_lead_to_files() {
    let folders = ["crates", "tests", "examples"].map(|folder| Path::new(ROOT).join(folder));
    let files = folders.iter().flat_map(|folder| sources(folder));
    let files: Vec<_> = files.map(|(path, _)| path).collect();
    let (readmes, guide) = (readmes(), guide());
    assert!(readmes.len() >= 10 && guide.len() >= 11, "{readmes:?} {guide:?}");
    let pages = readmes.iter().chain(&guide).map(String::as_str);
    let mut faults = Vec::new();
    for page in pages.chain(PAGES) {
        let text = read(page);
        faults.extend(dead_links(page, &text));
        faults.extend(dead_paths(page, &text));
        faults.extend(dead_names(page, &text, &files));
    }
    assert_eq!(faults, [""; 0]);
}

/// The examples run; what the front page of an adapter shows of them is this text.
#[test]
fn the_unit_tests_on_the_front_page_of_an_adapter_are_those_of_the_examples() {
    for framework in ["axum", "actix-web"] {
        let page = read(&format!("crates/article-webhook-{framework}/README.md"));
        let example = read(&format!("examples/unit_test_{}.rs", framework.replace('-', "_")));
        let (_, shown) = example.split_once("\n\n").expect("the first line is its own page");
        assert!(page.contains(&format!("```rust\n{shown}```\n")), "{framework}");
        assert!(example.lines().count() < 80, "{framework}");
    }
}
