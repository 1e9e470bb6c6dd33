//! Follows the files of `steps`: what the tool refuses or finds, and what does as it says. `settings.txt` says how they are read.

use std::thread;

use serde_json::Value;

use crate::{stage::Stage, tool::not_installed};

#[test]
fn a_start_that_is_refused_is_made_possible_as_the_refusal_says() {
    follow(include_str!("steps/start.txt"), Stage::killed);
}

#[test]
fn settings_and_arguments_are_given_as_the_refusal_says() {
    follow(include_str!("steps/settings.txt"), Stage::new);
}

#[test]
fn files_are_named_as_the_refusal_says() {
    follow(include_str!("steps/files.txt"), Stage::new);
}

#[test]
fn jobs_and_orders_are_named_as_the_refusal_says() {
    follow(include_str!("steps/jobs.txt"), Stage::new);
}

#[test]
fn what_doctor_finds_is_cured_by_its_fix() {
    follow(include_str!("steps/doctor.txt"), Stage::new);
}

/// Takes the steps of each section, on a stage of its own.
fn follow(text: &str, stage: fn() -> Stage) {
    thread::scope(|scope| {
        for section in format!("\n{text}").split("\n# ").skip(1) {
            let steps = section.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
            assert!(steps.iter().any(|line| is_command(line)), "no step: {section}");
            scope.spawn(move || take(&steps, &stage()));
        }
    });
}

fn is_command(line: &str) -> bool {
    line.starts_with("$ ") || line.starts_with("> ")
}

fn take(steps: &[String], stage: &Stage) {
    let mut steps = steps.iter().peekable();
    while let Some(line) = steps.next() {
        if let Some(way) = line.strip_prefix("> ") {
            stage.works(way);
            continue;
        }
        if let Some(condition) = line.strip_prefix("needs ") {
            if stage.ended(condition).0 != Some(0) {
                return not_installed(condition);
            }
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else {
            assert!(line.is_empty(), "it is neither a command nor a part of a refusal: {line}");
            continue;
        };
        let code = steps.next_if(|line| line.starts_with("? "));
        let mut text = String::new();
        while let Some(line) = steps.next_if(|line| !is_command(line)) {
            text = text + line + "\n";
        }
        let text = text.trim_end();
        if let Some(finding) = text.strip_prefix("finds ") {
            let after = steps.next().unwrap().strip_prefix("> ").unwrap();
            stage.cure(command, finding, after);
            continue;
        }
        let exit = stage.refuses(command, text);
        if let Some(code) = code {
            assert_eq!(format!("? {exit}"), *code, "{command}");
        }
    }
}

/// Parts of the secrets that the stage and `doctor.txt` give to the tool.
const SECRETS: [&str; 4] = ["5f2b9c0e7a1d4e38", "sk-simulator", "0d9c4b7fa3e8", "abababab"];

impl Stage {
    /// A command finds `SEVERITY CODE: FIX`, and the one after it finds nothing wrong with this code.
    #[track_caller]
    fn cure(&self, command: &str, finding: &str, after: &str) {
        let (what, fix) = finding.split_once(": ").unwrap();
        let (severity, code) = what.split_once(' ').unwrap();
        let find = |command: &str| {
            let (exit, out, error) = self.ended(&format!("{command} --json"));
            let lines: Vec<Value> =
                out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            // Else it checked nothing.
            let last = lines.last().map(|line| &line["type"]);
            assert_eq!(last, Some(&"summary".into()), "{command}: {out}");
            let is_bad = lines.iter().any(|line| line["severity"] == "fail");
            assert_eq!((exit, &*error), (Some(i32::from(is_bad)), ""), "{command}: {out}");
            assert!(!SECRETS.iter().any(|secret| out.contains(secret)), "{command}: {out}");
            let finding =
                lines.into_iter().find(|line| line["code"] == code && line["severity"] != "ok");
            finding.map(|it| {
                [&it["severity"], &it["fix"]].map(|it| it.as_str().unwrap_or_default().to_owned())
            })
        };
        assert_eq!(find(command), Some([severity, fix].map(str::to_owned)), "{command}: {code}");
        assert_eq!(find(after), None, "{after}: {code}");
    }
}
