//! The pages of the guide are shown.

use std::{fs, path::Path};

use crate::{ROOT, files::sources};

#[test]
fn each_page_of_the_guide_is_a_module() {
    let source = Path::new(ROOT).join("crates/article-webhook/src");
    let modules = fs::read_to_string(source.join("guide.rs")).expect("the guide is a module");
    let pages = sources(&source.join("guide"));
    assert_eq!(pages.len(), 21);
    for (path, _) in pages {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("names are UTF-8");
        assert!(modules.contains(&format!("pub mod {name} {{}}")), "{name}");
    }
}
