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
    let mut tests = CONTRACTS.map(|_| String::new());
    for part in ["cases", "ledger"] {
        println!("cargo:rerun-if-changed=src/{part}");
        add_cases(&Path::new("src").join(part), &format!("$crate::{part}"), &mut tests);
    }
    let macros = CONTRACTS.iter().zip(tests).map(|((name, subject), tests)| {
        format!(
            "/// Makes a `#[test]` of each case. The expression makes a new [`{subject}`](crate::{subject}) for each.\n\
             #[macro_export]\nmacro_rules! {name} {{ ($subject:expr) => {{ {tests} }}; }}\n"
        )
    });
    let file = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("suite.rs");
    fs::write(file, macros.collect::<String>()).expect("the folder is cargo's");
}

/// Adds the tests of a folder, whose module this is.
fn add_cases(folder: &Path, module: &str, tests: &mut [String]) {
    for file in fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it is a module");
        let module = format!("{module}::{name}");
        if path.is_dir() {
            add_cases(&path, &module, tests);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is a source file");
        for case in text.split("\npub async fn ").skip(1) {
            let (name, rest) = case.split_once('(').expect("it has parameters");
            let (bound, _) = rest.split_once(')').expect("they end");
            let of = CONTRACTS.iter().position(|(_, subject)| bound.contains(subject));
            let of = of.unwrap_or_else(|| panic!("{name} has no subject: {bound}"));
            tests[of] +=
                &format!("#[test] fn {name}() {{ $crate::run($subject, {module}::{name}); }}\n");
        }
    }
}
