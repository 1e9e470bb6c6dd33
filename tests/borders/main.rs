//! Holds the source of every crate in `crates/` to the rules of its structure:
//!
//! - The groups of `mod` lines in a `lib.rs`, divided by blank lines, are layers, lowest first. A module uses only modules
//!   of earlier groups, so there is no circle between them.
//! - Inside a folder, a circle of imports joins at most two files: a type and its constructor.
//! - What `places` names is in the files, or in the crates, that it gives, and nowhere else.
//!
//! The checks themselves are tried on a small crate and breaches of the rules, in `planted`.
//!
//! Tests are exempt: code under `#[cfg(test)]`, files of the name `tests.rs`, and everything outside `src/`.

#[path = "../readme/files.rs"]
mod files;
mod source;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use source::{Line, Source, is_word};

#[test]
fn every_crate_keeps_its_layers_and_its_single_places() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut crates: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (path, text) in files::sources(&folder) {
        let path = path.strip_prefix(&folder).expect("it was found there").to_string_lossy();
        if let Some((name, file)) = path.split_once("/src/")
            && file.ends_with(".rs")
        {
            crates.entry(name.to_owned()).or_default().insert(file.to_owned(), text);
        }
    }
    let sources: Vec<_> = crates.iter().map(|(name, files)| Source::of(name, files)).collect();
    let found = check(&sources, include_str!("places"));
    assert!(found.is_empty(), "{} findings\n{}", found.len(), found.join("\n"));
}

#[test]
fn each_breach_is_found_and_nothing_else() {
    let (sound, breaches) = include_str!("planted").split_once("\n\n> ").expect("breaches");
    let places = "too large | 413 Rejection::TooLarge | low/src/answer/\na clock | Instant::now |";
    let found = |breach: &str| {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for part in sound.split("\n== ").skip(1).chain(breach.split("\n== ").skip(1)) {
            let (file, lines) = part.split_once('\n').expect("a file has lines");
            *files.entry(file.to_owned()).or_default() += &format!("{}\n", lines.trim_end());
        }
        check(&[Source::of("low", &files)], places).join("\n")
    };
    assert_eq!(found(""), "");
    for breach in breaches.split("\n\n> ") {
        let expected = breach.lines().next().expect("it says what is found");
        assert!(found(breach).contains(expected), "{expected}\n{}", found(breach));
    }
    assert_eq!(check(&[], "a clock | now | low").len(), 1, "a place that has nothing is found");
}

/// Everything that these crates do against the rules.
fn check(sources: &[Source], places: &str) -> Vec<String> {
    let mut found: Vec<_> = sources.iter().flat_map(layers).collect();
    found.extend(sources.iter().flat_map(circles));
    let rows = places.lines().filter(|line| !line.starts_with('#'));
    found.extend(rows.flat_map(|row| place(sources, row)));
    found
}

fn layers(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (Line { module, at, .. }, path, _) in &source.uses {
        let (Some(from), Some(names)) = (module.first(), source.absolute(module, path)) else {
            continue;
        };
        let Some(to) = source.find(&names[..names.len().min(1)]) else { continue };
        let path = path.join("::");
        match to.first() {
            None => found.push(format!("{at}: `{path}` is not of a module: name the module")),
            Some(to) if to != from && source.layers[to] >= source.layers[from] => {
                let why = format!("`{to}` is in no earlier group of the root");
                let fix = format!("move what is used into `{from}` or below it, or pass it in");
                found.push(format!("{at}: `{from}` uses `{path}`, and {why}: {fix}"));
            }
            Some(_) => {}
        }
    }
    found
}

fn circles(source: &Source) -> BTreeSet<String> {
    // The files that each file leads to, within a module of the root.
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (Line { module, .. }, path, _) in source.uses.iter().filter(|(.., is_shown)| !is_shown) {
        let names = source.absolute(module, path).unwrap_or_default();
        let to = source.find(&names).unwrap_or_default();
        let [from, into] = [module, &to].map(|module| &*source.modules[module]);
        if !to.is_empty() && to.first() == module.first() && from != into {
            reach.entry(from).or_default().insert(into);
        }
    }
    // What is reached adds what it reaches, until that is nothing new.
    let mut before = BTreeMap::new();
    while before != reach {
        before = reach.clone();
        for all in reach.values_mut() {
            all.extend(all.clone().into_iter().filter_map(|file| before.get(file)).flatten());
        }
    }
    let circles = reach.iter().map(|(file, all)| {
        let is_back = |other: &&&str| reach.get(*other).is_some_and(|back| back.contains(file));
        all.iter().filter(is_back).copied().collect::<Vec<_>>()
    });
    // A type and its constructor may need each other.
    let long = circles.filter(|files| files.len() > 2).map(|files| files.join(", "));
    long.map(|files| format!("a circle of {files}: move what they need elsewhere")).collect()
}

fn place(sources: &[Source], row: &str) -> Vec<String> {
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let [what, words, places] = cells[..] else { panic!("a row has three cells: {row}") };
    let is_there = |code: &str, word: &str| {
        let mut paths = code.split(|c| !is_word(c) && c != ':').map(|path| format!("::{path}::"));
        code.contains(word) && paths.any(|path| path.contains(&format!("::{word}::")))
    };
    let mut places: BTreeMap<_, _> = places.split_whitespace().map(|place| (place, 0)).collect();
    let mut found = Vec::new();
    for Line { at, code, .. } in sources.iter().flat_map(|source| &source.lines) {
        if words.split_whitespace().any(|word| is_there(code, word)) {
            let own = at.strip_prefix("crates/").unwrap_or(at);
            match places.iter_mut().find(|(place, _)| own.starts_with(**place)) {
                Some((_, count)) => *count += 1,
                None => found.push(format!("{at}: {what}, which has its place elsewhere")),
            }
        }
    }
    let lost = places.into_iter().filter(|(_, count)| *count == 0).map(|(place, _)| place);
    found.extend(lost.map(|place| format!("{what} is not in {place}: correct its row in places")));
    found
}
