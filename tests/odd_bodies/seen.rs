use crate::rows::Row;

/// A style of mounting by its name, and what is seen of a body that is sent to it.
pub(crate) type Style = (&'static str, fn(&Row) -> Seen);

/// What is seen of one body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The status, and the word of the body.
    pub(crate) answer: String,
    /// Each entry of the inbox, and the job of the ledger.
    pub(crate) stored: Vec<String>,
    /// What the application was given.
    pub(crate) handled: Vec<String>,
    /// From the level `INFO` on.
    pub(crate) log: Vec<String>,
}

impl Seen {
    /// The columns of a table, behind the body.
    pub(crate) const COLUMNS: [&str; 4] = ["answer", "inbox", "the application gets", "log"];

    /// Whether nothing shows a person what became of the body.
    pub(crate) fn is_silent(&self) -> bool {
        self.handled.is_empty() && self.stored.is_empty() && self.log.is_empty()
    }

    /// The cells of a row.
    pub(crate) fn cells(&self) -> [String; 4] {
        let cells = [std::slice::from_ref(&self.answer), &self.stored, &self.handled, &self.log];
        cells.map(|lines| lines.join("<br>").replace('|', "\\|"))
    }
}
