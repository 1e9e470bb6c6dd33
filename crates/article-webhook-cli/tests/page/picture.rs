//! The picture of the page in the README, and whether it is up to date.

use std::{
    fs,
    path::{Path, PathBuf},
};

use article_webhook_inbox::Digest;

pub(crate) const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page.png");

/// A digest of the picture and of what it was made of. Pictures of two machines differ in their fonts, so a picture that is
/// made again is not compared with it.
pub(crate) const DIGEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page.png.digest");

/// What is seen: all files of a folder, or one.
const SOURCES: [&str; 5] = [
    "src/page/asset",
    "src/page/view",
    "src/text/escape.rs",
    "src/text/moment.rs",
    "tests/browser/scene.rs",
];

pub(crate) fn digest() -> String {
    let mut paths = vec![PathBuf::from(PICTURE)];
    for source in SOURCES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        match path.is_dir() {
            true => paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())),
            false => paths.push(path),
        }
    }
    paths.sort();
    let all: Vec<u8> = paths.into_iter().flat_map(|path| fs::read(path).unwrap()).collect();
    format!("{}\n", Digest::of(&all))
}
