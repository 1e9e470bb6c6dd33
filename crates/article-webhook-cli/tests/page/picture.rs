//! The picture of the page in the README, and whether it is up to date.

use std::fs;

use article_inbox::Digest;

pub(crate) const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page.png");

/// A digest of what the picture was made of. Pictures of two machines differ in their fonts, so they are not compared.
pub(crate) const DIGEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page.png.digest");

const SOURCES: [&str; 5] = [
    "src/page/asset/page.css",
    "src/page/view/list.rs",
    "src/page/view/part.rs",
    "src/page/view/shell.rs",
    "tests/browser/scene.rs",
];

pub(crate) fn digest() -> String {
    let read = |path| fs::read(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let all: Vec<u8> = SOURCES.into_iter().flat_map(read).collect();
    format!("{}\n", Digest::of(&all))
}
