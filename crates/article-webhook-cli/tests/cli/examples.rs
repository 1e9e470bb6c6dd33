//! Each command with what it prints. `TRYCMD=overwrite` writes the files again.

use std::{
    env,
    fs::{self, Permissions, read_dir},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use tokio::runtime::Runtime;
use trycmd::TestCases;

use crate::{
    sample,
    tool::{TOKEN, seen, tool},
};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/cases");

/// The cases run in a copy, each in a folder of its own with an inbox in it. All use one service and one receiver.
#[test]
fn every_command_prints_what_the_cases_say() {
    let runtime = Runtime::new().unwrap();
    let simulator = runtime.block_on(sample::service());
    let receiver = runtime.block_on(sample::receiver());
    let receiver = format!("http://{receiver}/webhooks/articles");

    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<_> = read_dir(CASES).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!cases.is_empty());
    for case in &cases {
        let copy = folder.path().join(case.file_name().unwrap());
        fs::copy(case, &copy).unwrap();
        let text = fs::read_to_string(&copy).unwrap();
        // A command has no variables: the addresses differ each time.
        fs::write(&copy, text.replace("[RECEIVER]", &receiver)).unwrap();
        runtime.block_on(furnish(&copy.with_extension("in")));
    }
    let tests = TestCases::new();
    tests
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .env("ARTICLE_API_URL", simulator.base_url())
        .insert_var("[URL]", simulator.base_url())
        .unwrap()
        .case(folder.path().join("*.trycmd"));
    tests.run();
    if env::var_os("TRYCMD").is_some() {
        for case in &cases {
            let text = fs::read_to_string(folder.path().join(case.file_name().unwrap())).unwrap();
            fs::write(case, text.replace(&receiver, "[RECEIVER]")).unwrap();
        }
    }
}

async fn furnish(folder: &Path) {
    fs::create_dir(folder).unwrap();
    sample::fill(&folder.join("inbox.db")).await;
    for (name, text) in [
        ("text.db", "this is no database, and it is long enough to look at\n"),
        ("brand.json", "{\"name\":\"Shoes & Co\"}\n"),
        ("key", "sk-simulator\n"),
        ("other-key", "sk-other\n"),
        ("token", TOKEN),
        (
            "service.env",
            "ARTICLE_API_KEY=sk-simulator\nARTICLE_WEBHOOK_TOKEN='Bearer 5f2b9c0e7a1d4e38'\n",
        ),
        ("ids", "# from the shop\njob_lost\n\njob_done\n"),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        // As a file with a secret should be.
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
}

/// The commands of the READMEs and the guide, and those at the end of each command's help.
#[test]
fn each_command_of_the_pages_is_understood() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let within = |folder: &str| read_dir(root.join(folder)).unwrap().map(|it| it.unwrap().path());
    let readmes = within("crates").map(|path| path.join("README.md"));
    let guide = within("crates/article-webhook/src/guide");
    let pages = readmes.chain(guide).chain([root.join("README.md")]);
    let examples = include_str!("../../src/arguments/examples.txt").lines();
    let mut commands: Vec<_> = examples.map(|line| format!("article-webhook {line}")).collect();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap_or_default().replace("\\\n", " ");
        for (number, part) in text.split("```").enumerate() {
            let found: Vec<_> = match number % 2 == 1 {
                true => part.lines().map(|line| line.trim_start_matches("$ ")).collect(),
                false => part.split('`').skip(1).step_by(2).collect(),
            };
            let of_tool = found.into_iter().filter(|it| it.starts_with("article-webhook "));
            commands.extend(of_tool.map(|it| {
                it.trim_end_matches(" &")
                    .trim_end_matches("help COMMAND")
                    .trim_end_matches("help")
                    .to_owned()
            }));
        }
    }
    assert!(commands.len() >= 90, "only {} commands were found", commands.len());
    commands.sort_unstable();
    commands.dedup();
    for command in commands {
        // What comes before it is read first. Nothing is done.
        let words = shlex::split(&format!("{command} --help")).unwrap();
        let (exit, _, error) = seen(&tool([]).args(&words[1..]).output().unwrap());
        assert_eq!(exit, Some(0), "{command}: {error}");
    }
}
