use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use crate::{
    finding::Finding,
    modules::{Modules, Target},
};

/// A type and its constructor may need each other; a longer circle is a folder in which nothing comes first.
const MOST_FILES: usize = 2;

type Uses<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

/// Inside a folder, no circle of imports joins more than two files.
pub(crate) fn check(modules: &Modules<'_>) -> Vec<Finding> {
    let uses = uses(modules);
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|&file| (file, reached(&uses, file))).collect();
    let mut findings = Vec::new();
    let mut done = BTreeSet::new();
    for &file in uses.keys() {
        let circle: Vec<&str> = reach[file]
            .iter()
            .copied()
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(file)))
            .collect();
        if circle.len() <= MOST_FILES || !done.insert(circle.clone()) {
            continue;
        }
        let steps: Vec<String> = circle
            .iter()
            .flat_map(|&from| uses[from].iter().map(move |(&to, line)| (from, to, line)))
            .filter(|(_, to, _)| circle.contains(to))
            .map(|(from, to, line)| format!("{from}:{line} → {to}"))
            .collect();
        findings.push(Finding {
            file: modules.sources.shown(circle[0]),
            line: None,
            what: format!("a circle of {} files: {}", circle.len(), steps.join(", ")),
            rule: "files of a folder use each other in a circle only where a type and its constructor need each other"
                .to_owned(),
            fix: "move what both need into a file of its own, or pass it in as an argument".to_owned(),
        });
    }
    findings
}

/// Which file uses which other file below the same module of the root, and in which line.
fn uses<'a>(modules: &'a Modules<'_>) -> Uses<'a> {
    let mut uses = Uses::new();
    for (at, module) in modules.all.iter().filter(|(at, _)| !at.is_empty()) {
        let own = uses.entry(&module.file).or_default();
        let exported = re_exports(&module.items);
        for path in modules.uses(module).iter().filter(|path| !exported.contains(&path.line)) {
            let Some(names) = modules.absolute(at, &path.names) else { continue };
            if let Target::Module(target) = modules.find(&names)
                && target.first() == at.first()
            {
                let file = &modules.all[&target].file;
                if *file != module.file {
                    own.entry(file).or_insert(path.line);
                }
            }
        }
    }
    uses
}

/// The lines of the `pub use` items: a folder's `mod.rs` shows what its files hold without needing it.
fn re_exports(items: &[Item]) -> BTreeSet<usize> {
    let shown = items.iter().filter_map(|item| match item {
        Item::Use(item) if !matches!(item.vis, syn::Visibility::Inherited) => Some(item),
        _ => None,
    });
    shown.flat_map(crate::paths::of_use).map(|path| path.line).collect()
}

/// The files that one leads to by any number of imports.
fn reached<'a>(uses: &Uses<'a>, file: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = vec![file];
    while let Some(file) = open.pop() {
        for &next in uses.get(file).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}
