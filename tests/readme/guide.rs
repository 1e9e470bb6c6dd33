//! What comments and pages refer to in the guide is there.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{ROOT, files::sources};

fn page(name: &str) -> Option<String> {
    let path = format!("crates/article-webhook/src/guide/{name}.md");
    fs::read_to_string(Path::new(ROOT).join(path)).ok()
}

/// The fragments that a link to a page may have: anchors written into it, and those that rustdoc makes of its headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let written = page.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut anchors: BTreeSet<_> = written.map(str::to_owned).collect();
    let mut code = false;
    for line in page.lines() {
        code ^= line.starts_with("```");
        if let (false, Some(heading)) = (code, line.strip_prefix('#')) {
            let letters = heading.trim_start_matches('#').trim().chars();
            let kept = letters.filter(|&c| c.is_alphanumeric() || " -_".contains(c));
            let anchor = kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() });
            anchors.insert(anchor.collect());
        }
    }
    anchors
}

/// The numbers of sections after each "service document, section" or "sections".
fn sections(text: &str) -> Vec<String> {
    // A comment may break the phrase over two lines.
    let words: Vec<_> =
        text.split_whitespace().filter(|word| !["//", "///", "//!"].contains(word)).collect();
    let mut sections = Vec::new();
    for (at, three) in words.windows(3).enumerate() {
        let is_reference = three[0].ends_with("service")
            && three[1] == "document,"
            && ["section", "sections"].contains(&three[2]);
        if !is_reference {
            continue;
        }
        let rest = words[at + 3..].iter().take_while(|word| {
            word.starts_with(|c: char| c.is_ascii_digit()) || ["and", "to"].contains(word)
        });
        for word in rest.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
            let number: String =
                word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            sections.push(number.trim_end_matches('.').to_owned());
        }
    }
    sections
}

/// The pages and fragments after each `guide::`.
fn references(text: &str) -> Vec<(String, Option<String>)> {
    let name = |text: &str| -> String {
        text.chars().take_while(|&c| c.is_ascii_alphanumeric() || "-_.".contains(c)).collect()
    };
    let after = text.split("guide::").skip(1);
    let references = after.map(|rest| {
        let page = name(rest);
        let fragment = rest[page.len()..].strip_prefix('#').map(name);
        (page.trim_end_matches('.').to_owned(), fragment)
    });
    references.filter(|(page, _)| !page.is_empty()).collect()
}

/// Everything that a text refers to and the guide does not have.
fn faults(text: &str) -> Vec<String> {
    let service = anchors(&page("service").expect("the guide has the page `service`"));
    let mut faults = Vec::new();
    for section in sections(text) {
        if !service.contains(&format!("section-{section}")) {
            faults.push(format!("the service document has no section {section}"));
        }
    }
    for (name, fragment) in references(text) {
        match (page(&name), fragment) {
            (None, _) => faults.push(format!("the guide has no page {name}")),
            (Some(page), Some(fragment)) if !anchors(&page).contains(&fragment) => {
                faults.push(format!("{name} has no heading #{fragment}"));
            }
            _ => {}
        }
    }
    faults
}

#[test]
fn what_refers_to_the_guide_finds_it() {
    let mut references_found = 0;
    for folder in ["crates", "examples"] {
        for (path, text) in sources(&Path::new(ROOT).join(folder)) {
            assert_eq!(faults(&text), [""; 0], "{}", path.display());
            references_found += references(&text).len();
        }
    }
    assert!(references_found >= 8, "{references_found}");
}

#[test]
fn each_page_of_the_guide_is_a_module() {
    let modules = fs::read_to_string(Path::new(ROOT).join("crates/article-webhook/src/guide.rs"));
    let modules = modules.expect("the guide is a module");
    let folder = Path::new(ROOT).join("crates/article-webhook/src/guide");
    let pages = sources(&folder);
    assert_eq!(pages.len(), 21);
    for (path, text) in pages {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("names are UTF-8");
        assert!(modules.contains(&format!("pub mod {name} {{}}")), "{name}");
        let lines = text.lines().count();
        assert!((50..=200).contains(&lines), "{name} has {lines} lines");
    }
}

/// The names in the first column of the page's table.
fn table_of_invariants(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.split_once("](#")?.1.split(')').next());
    rows.map(str::to_owned)
        .filter(|row| page.contains(&format!("| [{}](#", row.replace('-', " "))))
        .collect()
}

#[test]
fn every_invariant_stands_in_the_table() {
    let page = page("invariants").expect("the guide has a page of invariants");
    assert_eq!(table_of_invariants(&page), anchors(&page));
}
