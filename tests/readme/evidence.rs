//! The program `tests/evidence`: what it keeps, and which figures it finds older than their code.
#![cfg(unix)] // it is a script

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::ROOT;

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let who = ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"];
    let mut command = Command::new(program);
    command.envs(who.map(|name| (format!("GIT_{name}"), "a@example.org")));
    command.args(arguments).current_dir(folder).output().expect("the program is there")
}

/// What it prints, and whether it succeeds.
fn evidence(folder: &Path, argument: &str) -> (String, bool) {
    let Output { status, stdout, stderr } = run(folder, "tests/evidence", &[argument]);
    (String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned(), status.success())
}

fn commit(folder: &Path) {
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "a change"]] {
        assert!(run(folder, "git", arguments).status.success(), "{arguments:?}");
    }
}

#[test]
fn the_page_is_made_of_the_list_and_of_the_figures() {
    let (page, _) = evidence(Path::new(ROOT), "--page");
    assert_eq!(page, include_str!("../EVIDENCE.md"), "`tests/evidence --page` is the page");
    assert!(page.lines().count() <= 120, "a page that is read has no more lines");
    let list = include_str!("../promises.txt");
    for figure in include_str!("../evidence.tsv").lines() {
        let name = figure.split('\t').next().expect("a split has a first part");
        let is_named = |row: &str| row.split([';', '|']).any(|cell| cell.trim() == name);
        assert!(list.lines().any(is_named), "no row of the list names {name}");
    }
}

#[test]
fn a_figure_is_kept_if_the_command_succeeds_and_is_older_once_its_code_changes() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let folder = folder.path();
    let write = |path: &str, text: &str| fs::write(folder.join(path), text).expect("there is room");
    let kept = || fs::read_to_string(folder.join("tests/evidence.tsv")).unwrap_or_default();
    fs::create_dir(folder.join("tests")).expect("there is room");
    fs::copy(Path::new(ROOT).join("tests/evidence"), folder.join("tests/evidence"))
        .expect("there is room");
    write("tests/promises.txt", "# Light\n\n= The lamp burns | lamp: hours | lamp\n");
    write("lamp", "a wick");

    commit(folder);
    for command in
        ["echo lamp: hours: 3; false", "echo lamp: years: 3", "echo lamp: hours: skipped"]
    {
        let (printed, is_kept) = evidence(folder, command);
        assert!(!is_kept && printed.contains("nothing is kept"), "{printed}");
        assert_eq!(kept(), "", "{command}");
    }

    let (printed, is_kept) = evidence(folder, "echo lamp: hours: 3 of 4");
    assert!(is_kept, "{printed}");
    assert!(kept().starts_with("lamp: hours\t3 of 4\techo lamp: hours: 3 of 4\t"), "{}", kept());
    let page = fs::read_to_string(folder.join("tests/EVIDENCE.md")).expect("it is made");
    assert!(page.ends_with("| The lamp burns | 3 of 4 | `echo lamp: hours: 3 of 4` |\n"), "{page}");
    commit(folder);
    assert_eq!(evidence(folder, "--check"), (String::new(), true));

    write("lamp", "a longer wick");
    let (printed, is_kept) = evidence(folder, "echo lamp: hours: 4 of 4");
    assert!(!is_kept && printed.contains("so commit them first"), "{printed}");
    commit(folder);
    let (older, _) = evidence(folder, "--check");
    assert!(older.starts_with("lamp: hours: measured at "), "{older}");

    assert!(evidence(folder, "echo lamp: hours: 4 of 4").1);
    assert!(
        kept().starts_with("lamp: hours\t4 of 4\t") && kept().lines().count() == 1,
        "{}",
        kept()
    );
    assert_eq!(evidence(folder, "--check"), (String::new(), true));
}
