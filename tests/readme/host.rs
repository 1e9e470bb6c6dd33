//! What a code host reads in `.github` names crates, scripts and folders that exist. `.ci/workflows` checks the form.

use std::{collections::BTreeSet, fs, path::Path};

use crate::ROOT;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(file)).expect("the file exists")
}

/// The names in a folder.
fn names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).expect("there is such a folder");
    let names = entries.map(|entry| entry.expect("the entry can be read").file_name());
    names.map(|name| name.into_string().expect("names are UTF-8")).collect()
}

/// The scripts of this repository that a workflow runs.
fn scripts(workflow: &str) -> Vec<&str> {
    let words = workflow.split(|c: char| c.is_whitespace() || "\"'".contains(c));
    words.filter(|word| word.starts_with(".ci/") || word.starts_with("tests/")).collect()
}

/// The folders below `tests` that a text in YAML lists between brackets.
fn folders(text: &str) -> BTreeSet<String> {
    let list = text.split_once("directories: [").expect("there is a list").1;
    let list = list.split(']').next().expect("a split has a first part").split(", ");
    list.filter_map(|folder| folder.strip_prefix("/tests/")).map(str::to_owned).collect()
}

#[test]
fn the_form_for_bugs_offers_every_crate() {
    let form = read(".github/ISSUE_TEMPLATE/bug.yml");
    let options = form.lines().filter_map(|line| line.trim().strip_prefix("- article-webhook"));
    let options: BTreeSet<_> = options.map(|end| format!("article-webhook{end}")).collect();
    assert_eq!(options, names("crates"));
}

#[test]
fn the_scripts_of_the_workflows_exist() {
    let mut found = 0;
    for workflow in names(".github/workflows") {
        for script in scripts(&read(&format!(".github/workflows/{workflow}"))) {
            assert!(Path::new(ROOT).join(script).is_file(), "{workflow} runs {script}");
            found += 1;
        }
    }
    assert!(found >= 5, "{found}");
    assert_eq!(
        scripts("- run: CI=1 tests/run\n- run: \".ci/run\" # both"),
        ["tests/run", ".ci/run"]
    );
}

/// The targets that a text names.
fn targets(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    let is_target = |word: &&str| word.starts_with("x86_64-") || word.starts_with("aarch64-");
    words.filter(is_target).map(str::to_owned).collect()
}

#[test]
fn the_page_of_platforms_names_the_targets_that_are_tested() {
    let mut tested = targets(&read(".github/workflows/platforms.yml"));
    assert_eq!(tested.len(), 6);
    tested.insert("x86_64-unknown-linux-gnu".to_owned()); // by `.ci/run`
    assert_eq!(targets(&read("crates/article-webhook/src/guide/platforms.md")), tested);
    assert!(targets(&read(".github/workflows/release.yml")).is_subset(&tested));
}

#[test]
fn every_workspace_is_kept_up_to_date() {
    let has_lock =
        |name: &String| Path::new(ROOT).join("tests").join(name).join("Cargo.lock").exists();
    let is_whole =
        |name: &String| !read(&format!("tests/{name}/Cargo.toml")).contains("../../target/");
    let workspaces = names("tests").into_iter().filter(has_lock).filter(is_whole);
    let workspaces: BTreeSet<_> = workspaces.collect();
    assert_eq!(folders(&read(".github/dependabot.yml")), workspaces);
    assert_eq!(folders("directories: [/, /tests/a]"), BTreeSet::from(["a".to_owned()]));
}
