use std::collections::BTreeMap;

use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta, visit::Visit};

use crate::{
    paths::{self, End, Paths, Written},
    production,
    sources::Sources,
};

/// The module tree of one crate, without its tests.
pub(crate) struct Modules<'a> {
    pub(crate) sources: &'a Sources,
    /// By their paths from the root, whose own path is empty.
    pub(crate) all: BTreeMap<Vec<String>, Module>,
    /// The macros that are exported to the root, and the modules that define them.
    macros: BTreeMap<String, Vec<String>>,
}

pub(crate) struct Module {
    /// From the crate's folder: `src/json/value.rs`.
    pub(crate) file: String,
    pub(crate) items: Vec<Item>,
    /// What its `use` items bring into scope, with each path as it is written.
    imports: Vec<Written>,
}

/// What a path leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// This module of the crate, or something it defines.
    Module(Vec<String>),
    /// Something of another crate, re-exported at the root.
    Foreign,
    /// Nothing that can be found without compiling.
    Unknown,
}

impl<'a> Modules<'a> {
    pub(crate) fn of(sources: &'a Sources) -> Self {
        let mut modules = Self { sources, all: BTreeMap::new(), macros: BTreeMap::new() };
        let root = ["src/lib.rs", "src/main.rs"]
            .into_iter()
            .find(|&root| sources.files.contains_key(root));
        let root =
            root.unwrap_or_else(|| panic!("{} has neither a lib.rs nor a main.rs", sources.name));
        modules.load(Vec::new(), root.to_owned(), "src");
        modules
    }

    pub(crate) fn root(&self) -> &Module {
        &self.all[&Vec::new()]
    }

    /// Reads a file and, below the folder, the files of its modules.
    fn load(&mut self, path: Vec<String>, file: String, folder: &str) {
        let text = &self.sources.files[&file];
        let mut parsed = syn::parse_file(text).unwrap_or_else(|error| {
            panic!("{}:{}: {error}", self.sources.shown(&file), error.span().start().line)
        });
        production::without_tests(&mut parsed);
        self.add(path, file, folder, parsed.items);
    }

    fn add(&mut self, path: Vec<String>, file: String, folder: &str, items: Vec<Item>) {
        let mut own = Vec::new();
        for item in items {
            let Item::Mod(mut module) = item else {
                own.push(item);
                continue;
            };
            let name = module.ident.to_string();
            let child = [path.as_slice(), std::slice::from_ref(&name)].concat();
            let below = format!("{folder}/{name}");
            match &mut module.content {
                Some((_, items)) => self.add(child, file.clone(), &below, std::mem::take(items)),
                None => {
                    let (at, folder) = self.file_of(&module, &file, folder, &below);
                    self.load(child, at, &folder);
                }
            }
            // The root's own `mod` lines are its layers.
            own.push(Item::Mod(module));
        }
        for item in &own {
            if let Item::Macro(definition) = item
                && let Some(name) = &definition.ident
                && definition
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("macro_export"))
            {
                self.macros.insert(name.to_string(), path.clone());
            }
        }
        let uses = own
            .iter()
            .filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None });
        let imports = uses.flat_map(paths::of_use).collect();
        self.all.insert(path, Module { file, items: own, imports });
    }

    /// Where the file of a module is, and the folder of its own modules.
    fn file_of(
        &self,
        module: &ItemMod,
        parent: &str,
        folder: &str,
        below: &str,
    ) -> (String, String) {
        let beside = parent.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut places = vec![
            (format!("{below}.rs"), below.to_owned()),
            (format!("{below}/mod.rs"), below.to_owned()),
        ];
        if let Some(path) = module.attrs.iter().find_map(path_attribute) {
            places = vec![(format!("{beside}/{path}"), folder.to_owned())];
        }
        let found = places.iter().find(|(file, _)| self.sources.files.contains_key(file));
        found.cloned().unwrap_or_else(|| {
            panic!("{}: no file for mod {}", self.sources.shown(parent), module.ident)
        })
    }

    /// The paths in a module that start at a module of this crate.
    pub(crate) fn uses(&self, module: &Module) -> Vec<Written> {
        let mut paths = Paths::default();
        // Inline modules are modules of their own.
        for item in module.items.iter().filter(|item| !matches!(item, Item::Mod(_))) {
            paths.visit_item(item);
        }
        paths.found
    }

    /// The names from the root, of a path that is written in this module. `None` if it starts elsewhere.
    pub(crate) fn absolute(&self, module: &[String], names: &[String]) -> Option<Vec<String>> {
        let mut start = module.to_vec();
        let mut rest = names;
        match rest.first()?.as_str() {
            "crate" => {
                start.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            child if self.all.contains_key(&[module, &[child.to_owned()]].concat()) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|name| name == "super") {
            start.pop()?;
            rest = &rest[1..];
        }
        Some([start.as_slice(), rest].concat())
    }

    /// The module that these names lead to from the root, through every re-export on the way.
    pub(crate) fn find(&self, names: &[String]) -> Target {
        // More steps than any chain of re-exports has; `pub use` in a circle would go on for ever.
        self.walk(Vec::new(), names, 16)
    }

    fn walk(&self, mut at: Vec<String>, names: &[String], steps: usize) -> Target {
        for (i, name) in names.iter().enumerate() {
            let child = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.all.contains_key(&child) {
                at = child;
                continue;
            }
            let Some(module) = self.all.get(&at) else { return Target::Unknown };
            if let Some(import) =
                module.imports.iter().find(|import| import.introduces() == Some(name))
            {
                let Some(leads) = self.absolute(&at, &import.names) else {
                    return Target::Foreign;
                };
                if steps == 0 {
                    return Target::Unknown;
                }
                return self.walk(
                    Vec::new(),
                    &[leads.as_slice(), &names[i + 1..]].concat(),
                    steps - 1,
                );
            }
            return match at.is_empty() {
                false => Target::Module(at),
                true if self.macros.contains_key(name) => Target::Module(self.macros[name].clone()),
                true if self.has_foreign_glob(module) => Target::Foreign,
                true => Target::Unknown,
            };
        }
        Target::Module(at)
    }

    fn has_foreign_glob(&self, root: &Module) -> bool {
        let mut globs = root.imports.iter().filter(|import| import.ends == End::Glob);
        globs.any(|glob| self.absolute(&[], &glob.names).is_none())
    }
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) = &pair.value else { return None };
    pair.path.is_ident("path").then(|| path.value())
}
