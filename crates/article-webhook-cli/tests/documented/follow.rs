//! Follows the pages.

use std::{collections::HashSet, fs, panic, path::Path, thread};

use crate::{
    pages::{self, Page, Place, Step},
    running::{Running, until},
    stage::{Stage, TOKEN, alone},
};

/// Commands that run until Ctrl-C, and what they print once they do what the page wants of them.
const ENDLESS: [(&str, &str); 4] = [
    ("article-webhook listen", "Ctrl-C ends it"),
    ("article-webhook simulate", " 200"),
    ("article-webhook demo", "published"),
    ("article-webhook inbox page", "http://"),
];

/// The lines of a section of `expected.txt`.
fn expected<const PARTS: usize>(title: &str) -> impl Iterator<Item = [&'static str; PARTS]> {
    let mut sections = include_str!("expected.txt").split("\n# ");
    let section = sections.find(|section| section.starts_with(title)).unwrap();
    let (_, rows) = section.split_once("\n\n").unwrap();
    rows.lines().map(|row| row.split(" | ").collect::<Vec<_>>().try_into().unwrap())
}

fn ends() -> impl Iterator<Item = [&'static str; 5]> {
    expected("How a command ends")
}

fn not_run() -> impl Iterator<Item = [&'static str; 3]> {
    expected("What is not run")
}

/// Follows a page. Returns how many commands ran.
fn follow(page: &Page) -> usize {
    let stage = Stage::of(page);
    let outputs = tempfile::tempdir().unwrap();
    let mut variables = stage.variables.clone();
    let (mut running, mut commands, mut followed) = (Vec::new(), 0, HashSet::new());
    for step in page.steps() {
        let command = match step {
            Step::Command(command) => command,
            Step::End => {
                end(&mut running);
                continue;
            }
            Step::Session => {
                variables.clone_from(&stage.variables);
                continue;
            }
        };
        let text = &command.text;
        if let Some(set) = text.strip_prefix("export ") {
            let set = shlex::split(set).unwrap();
            let set = set.iter().filter_map(|word| word.split_once('='));
            // What a command makes or reads on a page is a token, and the one of the stage stands for it.
            let value = |value: &str| if value.contains("$(") { TOKEN } else { value }.to_owned();
            variables.extend(set.map(|(name, text)| (name.to_owned(), value(text))));
            continue;
        }
        // `tests/newcomer` and `tests/packages/run` build applications that have what these add.
        let adds = text.starts_with("cargo add ");
        let is_left_out =
            not_run().any(|[name, left_out, _]| page.name == name && text == left_out);
        let has_database = variables.iter().any(|(name, _)| name == "DATABASE_URL");
        if adds || is_left_out || text.contains("env:DATABASE_URL") && !has_database {
            continue;
        }
        // A sentence names it again. What it requeued may still be with its worker.
        if command.place == Place::Sentence && !followed.insert(text.clone()) {
            continue;
        }
        commands += 1;
        let output = outputs.path().join(commands.to_string());
        running.extend(run(page, &stage, &command, &variables, &output));
    }
    end(&mut running);
    commands
}

/// Runs a command, as a shell does in the page's folder. Returns it if it goes on until Ctrl-C.
fn run(
    page: &Page,
    stage: &Stage,
    command: &pages::Command,
    variables: &[(String, String)],
    output: &Path,
) -> Option<(String, Running)> {
    let text = &command.text;
    let file = fs::File::create(output).unwrap();
    // Variables that are set for one command stand before its name.
    let mut shell = stage.shell(&format!("exec env {}", stage.set(text)));
    shell.envs(variables.iter().cloned());
    let _alone = alone(text);
    let mut running = Running::of(shell.stdout(file.try_clone().unwrap()).stderr(file));
    let printed = || String::from_utf8_lossy(&fs::read(output).unwrap()).into_owned();
    let at = format!("{}: {text}", page.name);
    let endless = ENDLESS.iter().find(|(command, _)| text.starts_with(command));
    if let Some((_, shows)) = endless.filter(|_| !text.contains("--headless")) {
        let ended = until(&format!("{at}: it does not print {shows:?}"), || {
            let ended = running.process.try_wait().unwrap();
            (ended.is_some() || printed().contains(shows)).then_some(ended)
        });
        let code = ended.map(|status| status.code());
        assert!(code.is_none(), "{at}: ended with {:?}\n{}", code.flatten(), printed());
        return Some((text.clone(), running));
    }
    let (code, shown) = (running.ended(), printed());
    let is_short =
        command.place == Place::Sentence && shown.contains("required arguments were not provided");
    if code == Some(2) && is_short {
        return None;
    }
    let end = ends().find(|[name, begins, ..]| page.name == *name && text.starts_with(begins));
    let [_, _, exit, prints, _] = end.unwrap_or(["", "", "0", "", ""]);
    let is_expected = code.is_some_and(|code| code.to_string() == exit);
    assert!(is_expected, "{at}: ended with {code:?} in place of {exit}\n{shown}");
    assert!(shown.contains(prints), "{at}: did not print {prints:?}\n{shown}");
    // What the demo prints differs from run to run: the tool's own tests compare it.
    if !text.starts_with("article-webhook demo") {
        let differs = differs(&command.prints, &shown);
        assert_eq!(differs, None, "{at}: did not print what the page shows\n{shown}");
    }
    None
}

/// Ends what runs, the last first, as Ctrl-C does.
fn end(running: &mut Vec<(String, Running)>) {
    while let Some((command, mut running)) = running.pop() {
        // Again and again, as it may not have listened yet.
        let status = until(&format!("{command}: Ctrl-C: no end"), || {
            running.interrupt();
            running.process.try_wait().unwrap()
        });
        assert_eq!(status.code(), Some(0), "{command}: Ctrl-C");
    }
}

/// The first line of an excerpt that was not printed where it should be. A line `…` stands for any lines.
fn differs(shown: &[String], printed: &str) -> Option<String> {
    let mut printed = printed.lines().map(str::trim_end);
    let mut is_left_out = false;
    for line in shown.iter().map(|line| line.trim_end()) {
        if line == "…" {
            is_left_out = true;
            continue;
        }
        let is_there = match is_left_out {
            true => printed.any(|it| it == line),
            false => printed.next() == Some(line),
        };
        if !is_there {
            return Some(line.to_owned());
        }
        is_left_out = false;
    }
    let rest = printed.next().filter(|_| !is_left_out && !shown.is_empty());
    rest.map(|line| format!("{line}, which it does not show"))
}

#[test]
fn every_command_of_the_pages_runs_and_ends_as_the_page_says() {
    let mut pages = pages::all();
    pages.retain(|page| !page.commands().is_empty());
    let commands: usize = thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| follow(page))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert!(commands >= 40, "only {commands} commands were run");
    let page = |name: &str| pages.iter().find(|page| page.name == name).unwrap();
    for [name, begins, _, _, says] in ends() {
        let has_it = page(name).commands().iter().any(|command| command.text.starts_with(begins));
        assert!(
            has_it && page(name).says(says),
            "{name} has no {begins:?}, or does not say {says:?}"
        );
    }
    for [name, left_out, _] in not_run() {
        let has_it = page(name).commands().iter().any(|command| command.text == left_out);
        assert!(has_it, "{name} has no {left_out:?}");
    }
}

#[test]
fn a_command_that_fails_and_one_that_does_not_end_as_expected_are_found() {
    let block = |commands: &str| Page {
        name: "a page".to_owned(),
        text: format!("`article-webhook get` reads.\n```text\n{commands}\n```\n"),
    };
    for (commands, found) in [
        ("article-webhook inbox list nowhere.db", "ended with Some(5) in place of 0"),
        ("article-webhook inbox lists inbox.db", "ended with Some(2) in place of 0"),
        (
            "article-webhook listen --inbox a.db\narticle-webhook listen --inbox b.db",
            "ended with Some(1)\nerror: cannot listen on port",
        ),
        ("$ article-webhook inbox list inbox.db\nwaiting  7", "waiting  7"),
        ("$ article-webhook inbox list inbox.db | sed s/.*/a/\na", "a, which it does not show"),
        ("$ article-webhook inbox list inbox.db | sed s/.*/a/\n…\nb", "Some(\"b\")"),
        ("curl -sf http://127.0.0.1:8080/", "in place of 0"),
    ] {
        let failed = panic::catch_unwind(|| follow(&block(commands))).unwrap_err();
        let text = failed.downcast_ref::<String>().unwrap();
        assert!(text.contains(found), "{commands}: {text}");
    }
    let good = "$ A=b article-webhook inbox status inbox.db | grep ENTRIES\nENTRIES\n$ cargo demo";
    assert_eq!(follow(&block(good)), 3);
}
