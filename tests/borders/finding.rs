use std::fmt;

/// One thing that is against a rule, as it is printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// From the root of the workspace: `crates/article-webhook/src/lib.rs`.
    pub(crate) file: String,
    /// From 1. `None` if the finding is about the whole file or folder.
    pub(crate) line: Option<usize>,
    /// What the code does there.
    pub(crate) what: String,
    pub(crate) rule: String,
    pub(crate) fix: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}\n    rule: {}\n    fix:  {}", self.what, self.rule, self.fix)
    }
}
