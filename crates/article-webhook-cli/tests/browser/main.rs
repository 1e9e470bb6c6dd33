//! The page in a real Chromium, driven by WebDriver.
//!
//! Without `chromedriver` on the PATH the tests are skipped, and say so; where the variable `CI` is set, that is a failure. Without
//! `npm`, or its registry, axe-core is left out, which is reported.
//! If `BROWSER_SCREENSHOTS` names a folder, there are screenshots in it.

#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod axe;
mod driver;
mod scene;

#[path = "../cli/deliver.rs"]
mod deliver;
#[allow(dead_code, reason = "the commands' tests use more of it")]
#[path = "../cli/running.rs"]
mod process;
#[allow(dead_code, reason = "the page's tests use more of it")]
#[path = "../page/running.rs"]
mod running;
#[allow(dead_code, reason = "the commands' tests use more of it")]
#[path = "../cli/tool.rs"]
mod tool;

mod demo;
mod foreign;

mod foreign_page;
mod hostile;
mod operator;
mod path;
mod pictures;

/// How long something may take that takes no time on an idle machine.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
