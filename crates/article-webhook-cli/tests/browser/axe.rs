//! axe-core in the page: what keeps a person from reading or using it.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::driver::{Browser, not_installed};

/// Runs it, and returns a sentence for each violation and each check that failed. The frame of an article runs no script, so it
/// is left out. The rules named here are off unless asked for.
const RUN: &str = r#"
return axe.run(document, {
  iframes: false,
  rules: { "label-content-name-mismatch": { enabled: true }, "target-size": { enabled: true } },
}).then(({ violations }) => violations.flatMap(({ id, help, nodes }) =>
  nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`)));
"#;

pub(crate) struct Axe {
    source: String,
}

impl Axe {
    /// `None` if it cannot be had here.
    pub(crate) fn get() -> Option<Self> {
        let project = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let got = Command::new(project.join("tests/axe-core")).output().unwrap();
        if got.status.code() == Some(3) {
            not_installed("npm is not on the PATH, so there is no axe-core; install npm");
            return None;
        }
        assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
        let file = project.join(String::from_utf8(got.stdout).unwrap().trim_end());
        Some(Self { source: fs::read_to_string(file).unwrap() })
    }

    /// The violations of the view that the browser shows.
    pub(crate) async fn violations(&self, browser: &Browser) -> Vec<String> {
        let found = browser.run(&format!("{}\n{RUN}", self.source)).await;
        let Value::Array(found) = found else { panic!("{found}") };
        found.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    }
}
