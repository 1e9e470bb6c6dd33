//! The files that are looked at.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The Rust and Markdown files below a folder, with their text.
pub(crate) fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut sources = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "rs" || extension == "md")
            {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                sources.push((path, text));
            }
        }
    }
    sources.sort();
    sources
}
