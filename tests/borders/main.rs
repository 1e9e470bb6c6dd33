//! Holds the source of every crate in `crates/` to the rules of its structure:
//!
//! - The groups of `mod` lines in a `src/lib.rs`, divided by blank lines, are layers, lowest first.
//!   A module uses only modules of earlier groups, so there is no circle between folders (`imports`).
//! - Inside a folder a circle of imports joins at most two files: a type and its constructor (`circles`).
//! - `lib.rs` declares and re-exports, and does nothing else (`root`).
//! - Some decisions are made in one file of the project alone (`one_place`).
//!
//! Tests are exempt: code under `#[cfg(test)]`, and everything outside `src/`.
//! `BORDERS_CRATES` names another folder to check than the `crates/` of this checkout.

mod finding;
mod paths;
mod production;
mod sources;

mod modules;
mod signs;

mod one_place;
mod root;

mod cycles;
mod imports;

mod planted;

mod planted_places;

use std::path::PathBuf;

use finding::Finding;
use modules::Modules;
use sources::Sources;

#[test]
fn every_crate_keeps_its_layers_and_its_single_places() {
    let folder = std::env::var_os("BORDERS_CRATES")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates"), PathBuf::from);
    let crates = Sources::of_folder(&folder);
    assert!(!crates.is_empty(), "no crates in {}", folder.display());
    let findings = check(&crates);
    let list: String = findings.iter().map(|finding| format!("\n{finding}\n")).collect();
    assert!(findings.is_empty(), "{} findings\n{list}", findings.len());
}

/// Everything that these crates do against the rules, in the order of the files.
fn check(crates: &[Sources]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut trees = Vec::new();
    for sources in crates {
        let modules = Modules::of(sources);
        findings.extend(root::check(&modules));
        findings.extend(imports::check(&modules));
        findings.extend(cycles::check(&modules));
        trees.push(modules);
    }
    findings.extend(one_place::check(&trees));
    findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    findings
}
