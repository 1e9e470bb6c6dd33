//! The tool with its page, as a process.

use std::path::Path;

use crate::{
    process,
    tool::{TOKEN, text, tool},
};

pub(crate) struct Running {
    /// It ends with this.
    _process: process::Running,
    /// With the key.
    pub(crate) url: String,
    /// Without it: the origin, and the random part of the path.
    pub(crate) base: String,
    pub(crate) origin: String,
    /// Where articles are delivered; empty where only the page runs.
    pub(crate) receiver: String,
}

impl Running {
    /// A receiver with its page.
    pub(crate) fn listen(file: &Path) -> Self {
        Self::start(&["listen", "--port", "0", "--inbox", text(file)])
    }

    /// The page of an inbox alone.
    pub(crate) fn page(inbox: &Path, more: &[&str]) -> Self {
        Self::start(&[&["inbox", "page", text(inbox)], more].concat())
    }

    /// The whole loop.
    pub(crate) fn demo(file: &Path) -> Self {
        Self::start(&["demo", "--inbox", text(file)])
    }

    fn start(arguments: &[&str]) -> Self {
        let mut tool = tool(["--json"]);
        let tool = tool.args(arguments).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
        let (process, started) = process::Running::start(tool);
        let text = |name: &str| started[name].as_str().unwrap_or_default().to_owned();
        let url = text("page");
        let base = url.split("/?key=").next().unwrap().to_owned();
        let origin = base.rsplit_once('/').unwrap().0.to_owned();
        Self { _process: process, url, base, origin, receiver: text("listening") }
    }
}
