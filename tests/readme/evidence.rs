//! The page of evidence is what `tests/evidence` makes of the list of promises and of the figures.
#![cfg(unix)] // it is a script

use std::process::Command;

use crate::ROOT;

#[test]
fn the_page_is_made_of_the_list_and_of_the_figures() {
    let made = Command::new("tests/evidence").arg("--page").current_dir(ROOT).output();
    let page = String::from_utf8(made.expect("the program is there").stdout).expect("it is text");
    assert_eq!(page, include_str!("../EVIDENCE.md"), "`tests/evidence --page` is the page");
    let list = include_str!("../promises.txt");
    for figure in include_str!("../evidence.tsv").lines() {
        let name = figure.split('\t').next().expect("a split has a first part");
        let is_named = |row: &str| row.split([';', '|']).any(|cell| cell.trim() == name);
        assert!(list.lines().any(is_named), "no row of the list names {name}");
    }
}
