use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    finding::Finding,
    modules::{Modules, Target},
    paths::{End, Written},
    root,
};

/// One import of one module of the root by another.
struct Edge {
    from: String,
    to: String,
    file: String,
    path: Written,
}

/// A module uses only modules of earlier groups of `lib.rs`.
pub(crate) fn check(modules: &Modules<'_>) -> Vec<Finding> {
    let layers = root::layers(modules);
    let mut findings = Vec::new();
    let edges = edges(modules, &mut findings);
    for edge in &edges {
        let (Some(from), Some(to)) = (layers.get(&edge.from), layers.get(&edge.to)) else {
            continue;
        };
        if to < from {
            continue;
        }
        let place = if to == from { "the same group" } else { "a later group" };
        let mut rule = format!(
            "a module uses only modules of earlier groups of src/lib.rs, and `{}` is in {place}",
            edge.to
        );
        if let Some(way) = way_back(&edges, edge) {
            let names: Vec<&str> = way.iter().map(|step| step.from.as_str()).collect();
            let back = way.last().expect("a way has a step");
            let at = format!("{}:{}", modules.sources.shown(&back.file), back.path.line);
            rule += &format!(
                "; this closes the circle {} → {} → {} ({at})",
                edge.from,
                names.join(" → "),
                edge.from
            );
        }
        findings.push(Finding {
            file: modules.sources.shown(&edge.file),
            line: Some(edge.path.line),
            what: format!("`{}` uses `{}`", edge.from, edge.path.shown()),
            rule,
            fix: format!(
                "move what is used into `{}` or below it, or pass it in as an argument",
                edge.from
            ),
        });
    }
    findings
}

/// Every use of one module of the root by another, once a line.
fn edges(modules: &Modules<'_>, findings: &mut Vec<Finding>) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut seen = BTreeSet::new();
    // The root itself declares and re-exports, and has no layer.
    for (at, module) in modules.all.iter().filter(|(at, _)| !at.is_empty()) {
        for path in modules.uses(module) {
            let Some(names) = modules.absolute(at, &path.names) else { continue };
            let target = match names.split_first() {
                None => Target::Unknown,
                Some((first, _)) if modules.all.contains_key(std::slice::from_ref(first)) => {
                    Target::Module(vec![first.clone()])
                }
                Some((first, _)) => modules.find(std::slice::from_ref(first)),
            };
            match target {
                Target::Module(found) if found.first() == at.first() => {}
                Target::Module(found) if !found.is_empty() => {
                    if seen.insert((module.file.clone(), path.line, found[0].clone())) {
                        let (from, to) = (at[0].clone(), found[0].clone());
                        edges.push(Edge { from, to, file: module.file.clone(), path });
                    }
                }
                Target::Foreign => {}
                Target::Module(_) | Target::Unknown => {
                    findings.push(unclear(modules, &module.file, &path));
                }
            }
        }
    }
    edges
}

/// A path that reaches the root itself would bring in every layer unseen.
fn unclear(modules: &Modules<'_>, file: &str, path: &Written) -> Finding {
    let whole =
        path.ends != End::Name || path.names.iter().all(|name| name == "super" || name == "crate");
    Finding {
        file: modules.sources.shown(file),
        line: Some(path.line),
        what: format!(
            "`{}` {}",
            path.shown(),
            if whole { "names the whole root" } else { "is not found in src/lib.rs" }
        ),
        rule: "each import says which module it needs".to_owned(),
        fix: "name the module and the item: `crate::module::Item`".to_owned(),
    }
}

/// The shortest chain of imports that leads from the end of this one to its start.
fn way_back<'a>(edges: &'a [Edge], edge: &Edge) -> Option<Vec<&'a Edge>> {
    let mut came: BTreeMap<&str, &Edge> = BTreeMap::new();
    let mut queue = VecDeque::from([edge.to.as_str()]);
    while let Some(at) = queue.pop_front() {
        for next in edges.iter().filter(|next| next.from == at) {
            if came.contains_key(next.to.as_str()) || next.to == edge.to {
                continue;
            }
            came.insert(&next.to, next);
            queue.push_back(&next.to);
        }
    }
    let mut way = Vec::new();
    let mut at = edge.from.as_str();
    while at != edge.to {
        let step = *came.get(at)?;
        way.push(step);
        at = &step.from;
    }
    way.reverse();
    Some(way)
}
