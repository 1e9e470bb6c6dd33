use std::collections::BTreeMap;

use syn::{Item, ItemMod, Visibility};

use crate::{
    finding::Finding,
    modules::{Modules, Target},
    paths::{self, End},
};

/// The modules of the root and the numbers of their groups, from 0. A blank line ends a group.
pub(crate) fn layers(modules: &Modules<'_>) -> BTreeMap<String, usize> {
    let lines: Vec<&str> = modules.sources.files[&modules.root().file].lines().collect();
    let mut layers = BTreeMap::new();
    let mut layer = 0;
    let mut ended = None;
    for item in &modules.root().items {
        let Item::Mod(module) = item else { continue };
        let (start, end) = extent(module);
        // Lines count from 1: these are the lines between the last module's end and this one's start.
        if ended.is_some_and(|ended: usize| {
            lines[ended..start - 1].iter().any(|line| line.trim().is_empty())
        }) {
            layer += 1;
        }
        layers.insert(module.ident.to_string(), layer);
        ended = Some(end);
    }
    layers
}

/// The first and the last line of a declaration, with its attributes and its documentation.
fn extent(module: &ItemMod) -> (usize, usize) {
    let start = match (module.attrs.first(), &module.vis) {
        (Some(attribute), _) => attribute.pound_token.spans[0],
        (None, Visibility::Public(public)) => public.span,
        (None, Visibility::Restricted(restricted)) => restricted.pub_token.span,
        (None, Visibility::Inherited) => module.mod_token.span,
    };
    let end = match (&module.semi, &module.content) {
        (Some(semicolon), _) => semicolon.spans[0],
        (None, Some((braces, _))) => braces.span.close(),
        (None, None) => module.mod_token.span,
    };
    (start.start().line, end.end().line)
}

/// `lib.rs` holds documentation, attributes, `mod`, `use` and `pub use` alone, and names what it re-exports.
pub(crate) fn check(modules: &Modules<'_>) -> Vec<Finding> {
    let root = modules.root();
    if !root.file.ends_with("lib.rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut find = |line, what: String, rule: &str, fix: &str| {
        findings.push(Finding {
            file: modules.sources.shown(&root.file),
            line: Some(line),
            what,
            rule: rule.to_owned(),
            fix: fix.to_owned(),
        });
    };
    // An inline module at the root belongs to the same file.
    let own = modules.all.values().filter(|module| module.file == root.file);
    for item in own.flat_map(|module| &module.items) {
        match item {
            Item::Mod(_) => {}
            Item::Use(item) => {
                for path in paths::of_use(item).iter().filter(|path| path.ends == End::Glob) {
                    let own = modules.absolute(&[], &path.names).map(|names| modules.find(&names));
                    if let Some(Target::Module(_)) = own {
                        find(
                            path.line,
                            format!("`use {}`", path.shown()),
                            "lib.rs names what it re-exports from this crate, because it is the interface on one screen",
                            "list the names",
                        );
                    }
                }
            }
            other => {
                let (line, kind) = kind(other);
                find(
                    line,
                    kind.to_owned(),
                    "lib.rs holds docs, attributes, `mod`, `use` and `pub use` alone",
                    "move it into a module",
                );
            }
        }
    }
    findings
}

fn kind(item: &Item) -> (usize, &'static str) {
    let (span, kind) = match item {
        Item::Const(item) => (item.const_token.span, "a constant"),
        Item::Enum(item) => (item.enum_token.span, "an enum"),
        Item::ExternCrate(item) => (item.extern_token.span, "an `extern crate`"),
        Item::Fn(item) => (item.sig.fn_token.span, "a function"),
        Item::Impl(item) => (item.impl_token.span, "an `impl`"),
        Item::Macro(item) => (item.mac.bang_token.spans[0], "a macro"),
        Item::Static(item) => (item.static_token.span, "a static"),
        Item::Struct(item) => (item.struct_token.span, "a struct"),
        Item::Trait(item) => (item.trait_token.span, "a trait"),
        Item::Type(item) => (item.type_token.span, "a type alias"),
        _ => return (1, "an item of another kind"),
    };
    (span.start().line, kind)
}
