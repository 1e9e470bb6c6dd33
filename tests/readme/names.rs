//! A name at the root of one crate means one thing in all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use crate::ROOT;

/// The names that stand at the root of several crates, and these crates. Those of the adapters do the same thing in each.
const SHARED: [(&str, &str); 10] = [
    ("ArticleComplete", "actix-web axum"),
    ("Error", "client inbox"), // what a call of the crate can fail with, as in most libraries
    ("RawDelivery", "actix-web axum"),
    ("RefusedResponse", "actix-web axum"),
    ("Retry", "actix-web axum"),
    ("RunToCompletion", "actix-web axum tower"),
    ("RunToCompletionService", "axum tower"),
    ("metric", "collector inbox"), // the names of the metrics of the crate
    ("receive", "actix-web axum tower"),
    ("receive_capability", "actix-web axum tower"),
];

#[test]
fn a_public_name_means_one_thing_in_all_crates() {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in fs::read_dir(format!("{ROOT}/crates")).expect("the folder can be read") {
        let folder = folder.expect("the entry can be read").path();
        let Ok(root) = fs::read_to_string(folder.join("src/lib.rs")) else { continue };
        let folder = folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        for name in names(&root) {
            let short = folder.trim_start_matches("article-webhook-").to_owned();
            crates.entry(name).or_default().insert(short);
        }
    }
    crates.retain(|_, crates| crates.len() > 1);
    let shared = SHARED.map(|(name, crates)| {
        (name.to_owned(), crates.split(' ').map(str::to_owned).collect::<BTreeSet<_>>())
    });
    assert_eq!(crates, BTreeMap::from(shared), "add the noun of the crate to a name");
}

/// What the root of a crate shows of its own modules.
fn names(root: &str) -> Vec<String> {
    let statements = root.split("\n\n").flat_map(|group| group.split_inclusive(';'));
    let shown = statements.filter_map(|statement| {
        let is_hidden = statement.contains("#[doc(hidden)]");
        let (_, paths) = statement.split_once("pub use ").filter(|_| !is_hidden)?;
        (!paths.starts_with("article_webhook")).then_some(paths)
    });
    let paths = shown.flat_map(|paths| paths.split([',', '{', '}', ';']).map(str::trim));
    let names = paths.filter(|path| !path.is_empty() && !path.ends_with("::"));
    names
        .filter_map(|path| path.rsplit("::").next()?.rsplit(" as ").next().map(str::to_owned))
        .collect()
}

#[test]
fn a_name_is_read_in_every_form() {
    let root = "mod a;\npub use a::{\n    Answer, b::{Error as Fault, C},\n};\n#[doc(hidden)]\npub use a::Row;\npub use a::D;\n\
                pub use article_webhook::JobId;\n";
    assert_eq!(names(root), ["Answer", "Fault", "C", "D"]);
}
