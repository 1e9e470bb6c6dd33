//! Makes the macros that turn cases into tests. A case is a `pub async fn` below `src/cases` or `src/ledger`; the bound of its trial
//! says which contract it belongs to.

use std::{env, fs, path::Path};

/// The macro of each contract, and what its subjects are. A case is of the first whose subject its bound names.
const CONTRACTS: [(&str, &str); 3] = [
    ("transactional_store_contract", "Transactional"),
    ("durable_store_contract", "Durable"),
    ("store_contract", "Subject"),
];

fn main() {
    let mut cases = CONTRACTS.map(|_| Vec::new());
    for part in ["cases", "ledger"] {
        println!("cargo:rerun-if-changed=src/{part}");
        add_cases(&Path::new("src").join(part), &format!("crate::{part}"), &mut cases);
    }
    let mut suite = String::new();
    for ((contract, subject), cases) in CONTRACTS.iter().zip(cases) {
        let (mut functions, mut tests) = (String::new(), String::new());
        for (name, case) in cases {
            functions += &format!(
                "pub fn {name}(subject: Box<dyn {subject}>) {{ crate::trial::run(subject, {case}); }}\n"
            );
            tests += &format!(
                "#[test] fn {name}() {{ $crate::{contract}::{name}(Box::new($subject)); }}\n"
            );
        }
        suite += &format!(
            "/// The cases as functions, which are compiled here, and not again by each user of the macro.\n\
             #[doc(hidden)]\npub mod {contract} {{ use crate::{subject};\n{functions} }}\n\
             /// Makes a `#[test]` of each case. The expression makes a new [`{subject}`](crate::{subject}) for each.\n\
             #[macro_export]\nmacro_rules! {contract} {{ ($subject:expr) => {{ {tests} }}; }}\n"
        );
    }
    let file = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("suite.rs");
    fs::write(file, suite).expect("the folder is cargo's");
}

/// Adds the cases of a folder, whose module this is, by their names and their paths.
fn add_cases(folder: &Path, module: &str, cases: &mut [Vec<(String, String)>]) {
    for file in fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it is a module");
        let module = format!("{module}::{name}");
        if path.is_dir() {
            add_cases(&path, &module, cases);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is a source file");
        for case in text.split("\npub async fn ").skip(1) {
            let (name, rest) = case.split_once('(').expect("it has parameters");
            let (bound, _) = rest.split_once(')').expect("they end");
            let of = CONTRACTS.iter().position(|(_, subject)| bound.contains(subject));
            let of = of.unwrap_or_else(|| panic!("{name} has no subject: {bound}"));
            cases[of].push((name.to_owned(), format!("{module}::{name}")));
        }
    }
}
