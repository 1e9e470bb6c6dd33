use std::{collections::BTreeMap, fs, path::Path};

/// The Rust files below `src/` of one crate, by their paths from the crate's folder.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) name: String,
    pub(crate) files: BTreeMap<String, String>,
}

impl Sources {
    /// A crate in memory, for tests.
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        Self { name: name.to_owned(), files }
    }

    /// The crates of a folder, by name.
    pub(crate) fn of_folder(crates: &Path) -> Vec<Self> {
        let mut found: Vec<Self> = entries(crates)
            .into_iter()
            .filter(|folder| folder.join("src").is_dir())
            .map(|folder| {
                let mut files = BTreeMap::new();
                read(&folder, &folder.join("src"), &mut files);
                let name = folder.file_name().expect("a folder has a name");
                Self { name: name.to_string_lossy().into_owned(), files }
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// The path that a finding shows.
    pub(crate) fn shown(&self, file: &str) -> String {
        format!("crates/{}/{file}", self.name)
    }
}

fn read(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for path in entries(folder) {
        if path.is_dir() {
            read(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let below = path.strip_prefix(root).expect("it was found below the root");
            files.insert(below.to_string_lossy().into_owned(), text);
        }
    }
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let all = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    all.map(|entry| entry.expect("a folder can be read to its end").path()).collect()
}
