use std::collections::BTreeMap;

/// The code of one crate without its tests, read as text: `cargo fmt` has laid out every line.
#[derive(Default)]
pub(crate) struct Source {
    /// The modules by their paths from the root, with their files.
    pub(crate) modules: BTreeMap<Vec<String>, String>,
    /// The modules of the root and the numbers of their groups. A blank line ends a group.
    pub(crate) layers: BTreeMap<String, usize>,
    pub(crate) lines: Vec<Line>,
    /// The paths, as they are written, and whether a module only re-exports one.
    pub(crate) uses: Vec<(Line, Vec<String>, bool)>,
    /// The names that modules import, and the paths these stand for.
    imports: BTreeMap<(Vec<String>, String), Vec<String>>,
}

#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) module: Vec<String>,
    /// As findings show it: `crates/article-webhook/src/json.rs:1`.
    pub(crate) at: String,
    pub(crate) code: String,
}

impl Source {
    /// The files are named from the folder `src`.
    pub(crate) fn of(name: &str, files: &BTreeMap<String, String>) -> Self {
        let mut source = Self::default();
        for (file, text) in files {
            let parts = file.trim_end_matches(".rs").split('/');
            let names = parts.filter(|part| !["lib", "main", "mod"].contains(part));
            let module: Vec<_> = names.map(str::to_owned).collect();
            if module.is_empty() {
                source.layers = layers(text);
            }
            let lines = code(module, &format!("crates/{name}/src/{file}"), text);
            for Line { module, at, .. } in &lines {
                let file = at.rsplit_once(':').expect("a line has a number").0;
                source.modules.insert(module.clone(), file.to_owned());
            }
            source.read_paths(&lines);
            source.lines.extend(lines);
        }
        source
    }

    fn read_paths(&mut self, lines: &[Line]) {
        let text: String = lines.iter().map(|line| format!("{}\n", line.code)).collect();
        let mut rest = &*text;
        while let Some(colons) = rest.find("::") {
            let start = rest[..colons].trim_end_matches(is_word).len();
            let before = &text[..text.len() - rest.len() + start];
            let mut found = Vec::new();
            rest = follow(&rest[start..], &[], &mut found);
            let line = &lines[before.matches('\n').count()];
            let is_import = before.ends_with("use ");
            for (names, name) in found {
                if is_import {
                    self.imports.insert((line.module.clone(), name), names.clone());
                }
                self.uses.push((line.clone(), names, is_import && line.code.starts_with("pub")));
            }
        }
    }

    /// The names from the root, of a path in a module. `None` if it starts elsewhere.
    pub(crate) fn absolute(&self, module: &[String], names: &[String]) -> Option<Vec<String>> {
        let supers = names.iter().take_while(|name| *name == "super").count();
        let below = [module, names].concat();
        match names.first()?.as_str() {
            "crate" => Some(names[1..].to_vec()),
            "self" => Some([module, &names[1..]].concat()),
            "super" => {
                Some([&module[..module.len().checked_sub(supers)?], &names[supers..]].concat())
            }
            _ => self.modules.contains_key(&below[..=module.len()]).then_some(below),
        }
    }

    /// The module that names lead to from the root, through re-exports: the root itself if it shows no such name,
    /// and `None` if that is of another crate.
    pub(crate) fn find(&self, names: &[String]) -> Option<Vec<String>> {
        let known = (0..=names.len()).rfind(|&end| self.modules.contains_key(&names[..end]))?;
        let module = names[..known].to_vec();
        let name = names.get(known).cloned().unwrap_or_default();
        let Some(path) = self.imports.get(&(module.clone(), name)) else { return Some(module) };
        self.find(&[&self.absolute(&module, path)?, &names[known + 1..]].concat())
    }
}

/// The lines without comments and tests.
fn code(mut module: Vec<String>, file: &str, text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    // How far an item that is a test is indented, and each module within the file.
    let (mut test, mut inner) = (None, Vec::new());
    for (number, line) in text.lines().enumerate() {
        let code = line.split(" // ").next().unwrap_or_default().trim();
        let indent = Some(line.len() - line.trim_start().len());
        let child = code.strip_suffix(" {").and_then(|code| code.split_once("mod "));
        if ["#[test]", "#[cfg(test)]"].contains(&code) || code.starts_with("#[cfg(all(test,") {
            test = test.or(indent);
        } else if test.is_some() {
            test = test.filter(|_| test != indent || !code.ends_with(['}', ';', ',']));
        } else if let Some((_, child)) = child {
            module.push(child.to_owned());
            inner.push(indent);
        } else if inner.last() == Some(&indent) && code == "}" {
            module.pop();
            inner.pop();
        } else if !code.starts_with("//") {
            let (at, code) = (format!("{file}:{}", number + 1), code.to_owned());
            lines.push(Line { module: module.clone(), at, code });
        }
    }
    lines
}

fn layers(root: &str) -> BTreeMap<String, usize> {
    let groups = root.split("\n\n").enumerate();
    let lines = groups.flat_map(|(group, text)| text.lines().map(move |line| (line, group)));
    let modules = lines.filter_map(|(line, group)| Some((line.split_once("mod ")?.1, group)));
    modules.map(|(name, group)| (word(name).0.to_owned(), group)).collect()
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word at the start of a text, and the rest.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

type Paths = Vec<(Vec<String>, String)>;

/// Reads a path and those in its braces, with the names that they bring into scope. What is left of the text.
fn follow<'a>(text: &'a str, before: &[String], found: &mut Paths) -> &'a str {
    let (name, rest) = word(text);
    let names = match before {
        [.., last] if name == "self" => {
            found.push((before.to_vec(), last.clone()));
            return rest;
        }
        _ => [before, &[name.to_owned()]].concat(),
    };
    if let Some(mut list) = rest.strip_prefix("::{") {
        loop {
            list = list.trim_start_matches(|c| !is_word(c) && c != '}');
            if list.is_empty() || list.starts_with('}') {
                return list;
            }
            list = follow(list, &names, found);
        }
    }
    if let Some(more) = rest.strip_prefix("::").filter(|more| more.starts_with(is_word)) {
        return follow(more, &names, found);
    }
    let (scope, rest) = rest.strip_prefix(" as ").map_or((name, rest), word);
    found.push((names, scope.to_owned()));
    rest.trim_start_matches(':')
}
