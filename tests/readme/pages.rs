//! The pages that are read on a code host: short where they must be, without hidden lines, and with links and paths that
//! lead somewhere.

use std::{fs, path::Path};

use crate::ROOT;

const PAGES: [&str; 13] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "tests/README.md",
    "tests/EVIDENCE.md",
    "crates/article-webhook/README.md",
    "crates/article-webhook/src/guide/flow.md",
    "crates/article-webhook/src/guide/invariants.md",
    "crates/article-webhook/src/guide/missing.md",
    "crates/article-webhook/src/guide/postgres.md",
    "crates/article-webhook/src/guide/production.md",
    "crates/article-webhook/src/guide/testing.md",
];

/// The pages that a newcomer reads with the eye: what is compiled is what is shown.
const WITHOUT_HIDDEN_LINES: [&str; 5] = [
    "README.md",
    "crates/article-webhook/src/guide/flow.md",
    "crates/article-webhook/src/guide/missing.md",
    "crates/article-webhook/src/guide/production.md",
    "crates/article-webhook/src/guide/testing.md",
];

/// The README of each crate.
fn readmes() -> Vec<String> {
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).expect("there are crates");
    let names = crates.map(|entry| entry.expect("the entry can be read").file_name());
    names.map(|name| format!("crates/{}/README.md", name.to_string_lossy())).collect()
}

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).expect("the page exists")
}

/// The lines of Rust that rustdoc compiles and does not show.
fn hidden_lines(page: &str) -> Vec<&str> {
    let (mut rust, mut hidden) = (false, Vec::new());
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            rust = !rust && language.starts_with("rust");
        } else if rust && (line.trim() == "#" || line.trim_start().starts_with("# ")) {
            hidden.push(line);
        }
    }
    hidden
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
    let is_path = |quoted: &&str| {
        ["crates/", "tests/", "examples/", ".ci/"].iter().any(|root| quoted.starts_with(root))
    };
    let named = quoted.filter(is_path).filter_map(|quoted| quoted.split([' ', ':']).next());
    let dead = named.filter(|named| !named.contains('…') && !Path::new(ROOT).join(named).exists());
    dead.map(|named| format!("{path}: there is no {named}")).collect()
}

#[test]
fn the_readme_has_at_most_160_lines() {
    assert!(read("README.md").lines().count() <= 160);
}

#[test]
fn no_page_hides_lines_of_its_examples() {
    let readmes = readmes();
    assert!(readmes.len() >= 10, "{readmes:?}");
    for page in WITHOUT_HIDDEN_LINES.into_iter().chain(readmes.iter().map(String::as_str)) {
        assert_eq!(hidden_lines(&read(page)), [""; 0], "{page}");
    }
}

#[test]
fn links_and_paths_lead_to_files() {
    for page in PAGES {
        let text = read(page);
        assert_eq!(dead_links(page, &text), [""; 0]);
        assert_eq!(dead_paths(page, &text), [""; 0]);
    }
}

#[test]
fn a_page_with_a_fault_is_found_out() {
    let page = "# Title\n```rust\n# let hidden = 1;\n#[derive(Debug)]\nstruct Shown;\n```\n```sh\n# a comment\n```\n";
    assert_eq!(hidden_lines(page), ["# let hidden = 1;"]);

    let page =
        "[a](tests) [b](nowhere.md#part) [c](crate::Receiver) [d](https://example.com) [e](#part)";
    assert_eq!(dead_links("README.md", page), ["README.md: the link to nowhere.md leads nowhere"]);

    let page =
        "`tests/run`, `tests/running --long`, `tests/….patch`, `cargo test`, `tests/run::name`";
    assert_eq!(dead_paths("README.md", page), ["README.md: there is no tests/running"]);
}
