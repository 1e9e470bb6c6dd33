//! The pages that are read on a code host: short where they must be, without hidden lines, and with links and paths that
//! lead somewhere.

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
    let is_path = |quoted: &&str| ROOTS.iter().any(|root| quoted.starts_with(root));
    let named = quoted.filter(is_path).filter_map(|quoted| quoted.split([' ', ':']).next());
    let dead = named.filter(|named| !named.contains('…') && !Path::new(ROOT).join(named).exists());
    dead.map(|named| format!("{path}: there is no {named}")).collect()
}

/// The names of Rust files in backticks that are not there. A path before it in the same line says where: in that folder or
/// one above it. Without one it is beside the page, or below the `src` of a crate.
fn nameless_files(path: &str, page: &str) -> Vec<String> {
    let root = Path::new(ROOT);
    let beside = root.join(path);
    let mut missing = Vec::new();
    for line in page.lines() {
        let mut named: Option<PathBuf> = None;
        for quoted in line.split('`').skip(1).step_by(2) {
            if ROOTS.iter().any(|root| quoted.starts_with(root)) {
                named = Some(PathBuf::from(quoted));
                continue;
            }
            if !quoted.ends_with(".rs") || quoted.contains([' ', ':', '*', '…']) {
                continue;
            }
            let folders = named.iter().flat_map(|named| named.ancestors());
            let found =
                folders.map(|folder| folder.join(quoted)).find(|at| root.join(at).is_file());
            let is_there = found.is_some()
                || beside.with_file_name(quoted).is_file()
                || ((named.is_none() || quoted.contains('/')) && is_of_a_crate(quoted));
            if !is_there {
                missing.push(format!("{path}: there is no {quoted}"));
            }
            named = found.or(named);
        }
    }
    missing
}

fn is_of_a_crate(file: &str) -> bool {
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).expect("there are crates");
    let mut crates = crates.map(|entry| entry.expect("the entry can be read").path());
    crates.any(|folder| folder.join("src").join(file).is_file() || folder.join(file).is_file())
}

/// The words of a page that are paths into `tests`, which a reader without the repository does not have.
fn paths_into_tests(page: &str) -> Vec<&str> {
    let words = page.split(|c: char| c.is_whitespace() || "`(\"".contains(c));
    words.filter(|word| word.starts_with("tests/") || word.contains("/tests/")).collect()
}

#[test]
fn what_docs_rs_shows_names_no_path_into_the_tests() {
    for page in readmes().iter().chain(&guide()) {
        assert_eq!(paths_into_tests(&read(page)), [""; 0], "{page}");
    }
    for (path, text) in sources(&Path::new(ROOT).join("crates")) {
        if path.components().any(|part| part.as_os_str() == "src") {
            let is_shown =
                |line: &&str| ["///", "//!"].iter().any(|it| line.trim_start().starts_with(it));
            for line in text.lines().filter(is_shown) {
                assert_eq!(paths_into_tests(line), [""; 0], "{}", path.display());
            }
        }
    }
    assert_eq!(
        paths_into_tests("`tests/run`, a/tests/b, my tests/ and tests."),
        ["tests/run", "a/tests/b,", "tests/"]
    );
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
    let (readmes, guide) = (readmes(), guide());
    assert!(readmes.len() >= 10 && guide.len() >= 11, "{readmes:?} {guide:?}");
    let pages = readmes.iter().chain(&guide).map(String::as_str);
    let mut faults = Vec::new();
    for page in pages.chain(PAGES) {
        let text = read(page);
        faults.extend(dead_links(page, &text));
        faults.extend(dead_paths(page, &text));
        faults.extend(nameless_files(page, &text));
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

    let page = "`crates/article-webhook-cli/src/command`, `failure.rs`, `escape.rs`, `text/escape.rs`, `command/nothing.rs`\n\
        `lib.rs`, `deliveries/push.rs`, `no_such.rs`\n";
    assert_eq!(
        nameless_files("README.md", page),
        ["escape.rs", "command/nothing.rs", "no_such.rs"]
            .map(|file| format!("README.md: there is no {file}"))
    );
}
