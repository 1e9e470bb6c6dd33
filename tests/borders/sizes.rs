use std::collections::BTreeMap;

use crate::{finding::Finding, sources::Sources};

const MOST_LINES: usize = 350;
const MOST_FILES: usize = 12;

/// No file has too many lines, its tests included, and no folder too many files.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, text) in &sources.files {
        let (folder, _) = path.rsplit_once('/').expect("every file is below src/");
        *folders.entry(folder).or_default() += 1;
        let lines = text.lines().count();
        if lines > MOST_LINES {
            findings.push(Finding {
                file: sources.shown(path),
                line: None,
                what: format!("{lines} lines"),
                rule: format!("a file has at most {MOST_LINES} lines, including tests"),
                fix: "split it: one idea per file, named for it".to_owned(),
            });
        }
    }
    for (folder, files) in folders.into_iter().filter(|&(_, files)| files > MOST_FILES) {
        findings.push(Finding {
            file: sources.shown(folder),
            line: None,
            what: format!("{files} files"),
            rule: format!("a folder has at most {MOST_FILES} Rust files"),
            fix: "put the files of one idea into a folder of their own".to_owned(),
        });
    }
    findings
}
