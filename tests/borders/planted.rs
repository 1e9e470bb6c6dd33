//! The checks themselves are tried: a small crate that keeps every rule, and one fault after the other in it.

use crate::{check, sources::Sources};

const ROOT: &str = "\
#![doc = \"A crate.\"]

mod json;

// Two modules of one layer.
/// What the service says.
mod article;
#[cfg(feature = \"capability\")]
pub mod auth;

mod answer;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Code as AnswerCode};
pub use article::JobId;
pub use std::fmt;
";

/// Every form of import that the checks read, all of them downwards.
const SOUND: &[(&str, &str)] = &[
    ("src/lib.rs", ROOT),
    ("src/json.rs", "mod value;\npub(crate) use value::Value;\npub(crate) fn read() {}\n"),
    (
        "src/json/value.rs",
        "pub(crate) struct Value;\n#[cfg(test)]\nmod tests { use crate::answer::Answer; }\n",
    ),
    ("src/article/mod.rs", "pub struct JobId;\n"),
    ("src/auth.rs", "pub struct Token;\n#[test]\nfn it_refuses() { crate::answer::refuse(); }\n"),
    (
        "src/answer.rs",
        "use crate::{article as said, fmt, json::{self, Value}, JobId};\n\
         mod wire;\n\
         pub struct Answer { job: super::article::JobId }\n\
         pub(crate) enum Code { Large }\n\
         impl Answer {\n\
             fn refuse(self) -> Rejection { crate::auth::check(); json::read(); Rejection::TooLarge { limit: 1 } }\n\
             fn wrong(&self) -> Rejection { vec![Rejection::MethodNotPost] }\n\
             fn is_large(&self) -> bool { matches!(self.0, Rejection::TooLarge { .. }) }\n\
         }\n\
         struct Rejection;\n",
    ),
    (
        "src/answer/wire.rs",
        "use super::Code;\nuse crate::AnswerCode;\nconst LARGE: u16 = 413;\nconst METHOD: u16 = 405;\n",
    ),
    ("src/tests.rs", "use crate::answer::*;\nfn f() { Rejection::TooLarge { limit: 2 }; }\n"),
];

/// The sound crate, with some of its files replaced or added.
fn planted(changes: &[(&str, &str)]) -> String {
    let mut sources = Sources::new("article-webhook", SOUND);
    for &(path, text) in changes {
        sources.files.insert(path.to_owned(), text.to_owned());
    }
    let found = check(&[sources]);
    found.iter().map(|finding| format!("{finding}\n")).collect()
}

/// The same with lines behind those of a file.
pub(crate) fn with(path: &str, lines: &str) -> String {
    let text =
        SOUND.iter().find(|(sound, _)| *sound == path).expect("it is a file of the sound crate").1;
    planted(&[(path, &format!("{text}{lines}"))])
}

/// What is said of an import that is not downwards.
fn import(at: &str, path: &str, why: &str) -> String {
    let (from, _) = at.split_once([':', '/', '.']).expect("a line is given");
    format!(
        "crates/article-webhook/src/{at}: `{from}` uses `{path}`\n    \
         rule: a module uses only modules of earlier groups of src/lib.rs, and {why}\n    \
         fix:  move what is used into `{from}` or below it, or pass it in as an argument\n"
    )
}

pub(crate) fn finding(at: &str, what: &str, rule: &str, fix: &str) -> String {
    format!("crates/article-webhook/{at}: {what}\n    rule: {rule}\n    fix:  {fix}\n")
}

#[test]
fn a_crate_that_keeps_every_rule_passes() {
    assert_eq!(planted(&[]), "");
}

#[test]
fn an_upward_import_is_found() {
    let found = with("src/json.rs", "use crate::article::JobId;\n");
    assert_eq!(
        found,
        import("json.rs:4", "crate::article::JobId", "`article` is in a later group")
    );
}

#[test]
fn an_import_of_the_same_group_is_found() {
    let found = with("src/auth.rs", "use crate::article::JobId;\n");
    assert_eq!(
        found,
        import("auth.rs:4", "crate::article::JobId", "`article` is in the same group")
    );
}

#[test]
fn every_form_of_an_upward_use_is_found() {
    for (line, path) in [
        ("use crate::{auth::Token, json::Value};", "crate::auth::Token"),
        ("use crate::{self as root, json};", "crate as root"),
        ("use crate::auth as a;", "crate::auth as a"),
        ("use crate::auth::*;", "crate::auth::*"),
        ("use super::auth::Token;", "super::auth::Token"),
        ("use super::*;", "super::*"),
        ("use crate::JobId;", "crate::JobId"),
        ("use crate::JobId as Id;", "crate::JobId as Id"),
        ("fn f() { crate::auth::check() }", "crate::auth::check"),
        ("fn f() { use crate::auth::Token; }", "crate::auth::Token"),
        ("fn f(token: &super::auth::Token) {}", "super::auth::Token"),
        ("fn f() { if let crate::auth::Token = x {} }", "crate::auth::Token"),
        ("fn f() { <u8 as crate::auth::Check>::f() }", "crate::auth::Check::f"),
        ("fn f() { g::<crate::auth::Token>() }", "crate::auth::Token"),
        ("fn f() { log!(x => crate::auth::check()) }", "crate::auth::check"),
        ("fn f() { cfg_if! { use crate::{json, auth::Token}; } }", "crate::auth::Token"),
        ("macro_rules! m { () => { $crate::auth::check() } }", "crate::auth::check"),
        ("mod inner { use super::super::auth::Token; }", "super::super::auth::Token"),
        ("mod inner { fn f() { super::super::JobId } }", "super::super::JobId"),
        ("#[serde(with = \"crate::auth\")] struct S;", "crate::auth"),
        (
            "struct S { #[serde(deserialize_with = \"crate::auth::read\")] s: u8 }",
            "crate::auth::read",
        ),
        ("impl crate::auth::Check for S {}", "crate::auth::Check"),
        ("pub(in crate::auth) struct S;", "crate::auth"),
        ("#[cfg(any(test, feature = \"fixture\"))] use crate::auth::Token;", "crate::auth::Token"),
        ("#[cfg(not(test))] use crate::auth::Token;", "crate::auth::Token"),
    ] {
        let found = with("src/json.rs", line);
        let (first, _) =
            found.split_once("\n    rule:").unwrap_or_else(|| panic!("nothing is found in {line}"));
        let at = "crates/article-webhook/src/json.rs:4: ";
        assert!(
            [format!("{at}`json` uses `{path}`"), format!("{at}`{path}` names the whole root")]
                .contains(&first.to_owned()),
            "{line}\n{found}"
        );
        assert_eq!(found.matches("rule:").count(), 1, "{found}");
    }
}

#[test]
fn what_only_tests_use_and_what_docs_name_is_left_alone() {
    for line in [
        "#[cfg(test)] use crate::auth::Token;",
        "#[cfg(all(test, feature = \"tracing\"))] use crate::auth::Token;",
        "#[cfg(test)] mod tests { use crate::auth::Token; }",
        "impl Value { #[cfg(test)] fn f() { crate::auth::check() } }",
        "struct S { #[cfg(test)] token: crate::auth::Token }",
        "fn f() { #[cfg(test)] crate::auth::check(); }",
        "/// See [`crate::auth::Token`].\nstruct S;",
        "#[doc(alias = \"crate::auth::Token\")] struct S;",
        "// use crate::auth::Token;",
        "const S: &str = \"crate::auth::Token\";",
        "use ::auth::Token;",
        "use auth::Token;",
        "fn f() { self::read(); crate::json::read(); crate::fmt::Debug }",
    ] {
        assert_eq!(with("src/json.rs", line), "", "{line}");
    }
}

#[test]
fn a_name_that_lib_rs_does_not_show_is_found() {
    let found = with("src/answer.rs", "use crate::Absent;\n");
    let fix = "name the module and the item: `crate::module::Item`";
    let rule = "each import says which module it needs";
    let what = "`crate::Absent` is not found in src/lib.rs";
    assert_eq!(found, finding("src/answer.rs:11", what, rule, fix));
}

#[test]
fn a_circle_of_folders_is_found_with_the_way_back() {
    let found = with("src/json/value.rs", "use crate::answer::Code;\n");
    let why = "`answer` is in a later group; this closes the circle json → answer → json \
               (crates/article-webhook/src/answer.rs:1)";
    assert_eq!(found, import("json/value.rs:4", "crate::answer::Code", why));
}

#[test]
fn a_circle_of_three_files_of_a_folder_is_found() {
    let found = planted(&[
        (
            "src/json.rs",
            "mod a;\nmod b;\nmod value;\nuse a::A;\npub(crate) use value::Value;\npub(crate) fn read() {}\n",
        ),
        ("src/json/a.rs", "use super::b::B;\n"),
        ("src/json/b.rs", "use super::read;\n"),
    ]);
    let what = "a circle of 3 files: src/json.rs:4 → src/json/a.rs, src/json/a.rs:1 → src/json/b.rs, \
                src/json/b.rs:1 → src/json.rs";
    let rule = "files of a folder use each other in a circle only where a type and its constructor need each other";
    let fix = "move what both need into a file of its own, or pass it in as an argument";
    assert_eq!(found, finding("src/json.rs", what, rule, fix));
}

#[test]
fn a_type_and_its_constructor_may_use_each_other() {
    let found = planted(&[
        ("src/json/value.rs", "mod builder;\nuse builder::Builder;\npub(crate) struct Value;\n"),
        ("src/json/value/builder.rs", "use super::Value;\npub(super) struct Builder;\n"),
    ]);
    assert_eq!(found, "");
}

#[test]
fn code_in_lib_rs_is_found() {
    let rule = "lib.rs holds docs, attributes, `mod`, `use` and `pub use` alone";
    let found = with("src/lib.rs", "pub fn open() {}\n");
    assert_eq!(found, finding("src/lib.rs:19", "a function", rule, "move it into a module"));
    let found = with("src/lib.rs", "pub mod guide {\n    //! Pages.\n    pub struct Page;\n}\n");
    assert_eq!(found, finding("src/lib.rs:21", "a struct", rule, "move it into a module"));
    assert_eq!(
        with("src/lib.rs", "pub mod guide {\n    //! Pages.\n    pub use std::io;\n}\n"),
        ""
    );
}

#[test]
fn a_glob_of_an_own_module_in_lib_rs_is_found_and_one_of_another_crate_is_not() {
    let rule = "lib.rs names what it re-exports from this crate, because it is the interface on one screen";
    let found = with("src/lib.rs", "pub use auth::*;\n");
    assert_eq!(found, finding("src/lib.rs:19", "`use auth::*`", rule, "list the names"));
    assert_eq!(with("src/lib.rs", "pub use http::*;\n"), "");
}
