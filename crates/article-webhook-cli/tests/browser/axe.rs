//! axe-core in the page: what keeps a person from reading or using it.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::{driver::Browser, tool::skipped};

/// Runs it, and returns a sentence for each violation and each check that failed. The frame of an article runs no script, so it
/// is left out. The rules named here are off unless asked for.
const RUN: &str = r#"
return axe.run(document, {
  iframes: false,
  rules: { "label-content-name-mismatch": { enabled: true }, "target-size": { enabled: true } },
}).then(({ violations, incomplete }) => violations.concat(incomplete.filter(({ id }) => id === "aria-valid-attr-value")).flatMap(({ id, help, nodes }) =>
  nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`)));
"#;

/// What axe-core does not mind: an id that stands twice, a second heading of the page, a head of a table without its scope.
const TWICE: &str = r#"
const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
return [
  ...ids.filter((id, index) => ids.indexOf(id) < index).map(id => `twice: ${id}`),
  ...[...document.querySelectorAll("h1")].slice(1).map(({ outerHTML }) => `second h1: ${outerHTML}`),
  ...[...document.querySelectorAll("th:not([scope])")].map(({ outerHTML }) => `no scope: ${outerHTML}`),
];
"#;

pub(crate) struct Axe {
    source: String,
}

impl Axe {
    /// `None` if it is not available here.
    pub(crate) fn get() -> Option<Self> {
        let project = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let got = Command::new(project.join("tests/axe-core")).output().unwrap();
        if got.status.code() == Some(3) {
            skipped("axe-core: npm is not on the PATH, or its registry cannot be reached");
            return None;
        }
        assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
        let file = project.join(String::from_utf8(got.stdout).unwrap().trim_end());
        Some(Self { source: fs::read_to_string(file).unwrap() })
    }

    /// The violations of the view that the browser shows.
    pub(crate) async fn violations(&self, browser: &Browser) -> Vec<String> {
        let mut all = Vec::new();
        for script in [&format!("{}\n{RUN}", self.source), TWICE] {
            let found = browser.run(script).await;
            let Value::Array(found) = found else { panic!("{found}") };
            all.extend(found.iter().map(|it| it.as_str().unwrap().to_owned()));
        }
        all
    }
}
