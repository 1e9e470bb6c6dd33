//! Follows the files of `steps`: what the tool refuses or finds, and what does as it says. `settings.txt` says how they are read.

use std::thread;

use serde_json::Value;

use crate::stage::Stage;

#[test]
fn settings_and_arguments_are_given_as_the_refusal_says() {
    follow(include_str!("steps/settings.txt"));
}

#[test]
fn files_are_named_as_the_refusal_says() {
    follow(include_str!("steps/files.txt"));
}

#[test]
fn jobs_and_orders_are_named_as_the_refusal_says() {
    follow(include_str!("steps/jobs.txt"));
}

#[test]
fn what_doctor_finds_is_cured_by_its_fix() {
    follow(include_str!("steps/doctor.txt"));
}

/// Takes the steps of each section.
fn follow(text: &str) {
    thread::scope(|scope| {
        for section in format!("\n{text}").split("\n# ").skip(1) {
            let steps = section.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
            scope.spawn(move || take(&steps));
        }
    });
}

fn take(steps: &[String]) {
    let stage = Stage::new();
    let is_command = |line: &str| line.starts_with("$ ") || line.starts_with("> ");
    let mut steps = steps.iter().peekable();
    while let Some(line) = steps.next() {
        if let Some(way) = line.strip_prefix("> ") {
            stage.works(way);
        } else if let Some(command) = line.strip_prefix("$ ") {
            let mut text = String::new();
            while let Some(line) = steps.next_if(|line| !is_command(line)) {
                text = text + line + "\n";
            }
            let Some(finding) = text.trim_end().strip_prefix("finds ") else {
                stage.refuses(command, text.trim_end());
                continue;
            };
            let after = steps.next().unwrap().strip_prefix("> ").unwrap();
            stage.cure(command, finding.split_once(": ").unwrap(), after);
        }
    }
}

impl Stage {
    fn cure(&self, command: &str, (code, fix): (&str, &str), after: &str) {
        let fix_of = |command: &str| {
            let findings = self.output(&format!("{command} --json"));
            let findings = findings.lines().filter_map(|line| serde_json::from_str(line).ok());
            let finding = findings.into_iter().find(|finding: &Value| finding["code"] == code);
            finding.and_then(|finding| finding["fix"].as_str().map(str::to_owned))
        };
        assert_eq!(fix_of(command).as_deref(), Some(fix), "{command}: {code}");
        assert_eq!(fix_of(after), None, "{after}: {code}");
    }
}
