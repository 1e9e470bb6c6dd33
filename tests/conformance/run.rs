use std::collections::BTreeSet;

use crate::{exchange::Fate, row::Row, targets::server::Server};

/// What came of a table that was held against a server.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many rows each style owed.
    pub(crate) owed: Vec<usize>,
    /// In the order of the table.
    pub(crate) disagreements: Vec<String>,
}

pub(crate) fn run(server: &Server, rows: &[Row]) -> Report {
    let (framework, mut report) = (server.framework, Report::default());
    for style in framework.styles() {
        let mut owed = 0;
        let mut to_strangers = BTreeSet::new();
        for row in rows {
            let Some(expected) = row.expected(framework, style) else {
                continue;
            };
            owed += 1;
            let (found, wire) = server.exchange(style, row);
            let mut disagree = |text| {
                let situation = row.situation;
                report.disagreements.push(format!("{framework:?}, {style:?}: {situation}\n{text}"));
            };
            if found != expected {
                disagree(format!("  expected {expected:?}\n  found    {found:?}"));
            }
            // Whatever a stranger did wrong, the bytes of the answer are the same; only that the
            // connection is closed may be added.
            if found.answer.is_ok_and(|answer| answer.starts_with("401 ")) {
                to_strangers.insert((expected.connection == Fate::Closed, wire));
                let kinds: BTreeSet<_> = to_strangers.iter().map(|(closes, _)| closes).collect();
                if kinds.len() != to_strangers.len() {
                    disagree(format!("  401 differs: {to_strangers:?}"));
                }
            }
        }
        report.owed.push(owed);
    }
    report
}
