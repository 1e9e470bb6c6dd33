use std::collections::BTreeSet;

use crate::{
    answers::Answer,
    exchange::Exchange,
    row::{Outcome, Promise, Row},
    site::Style,
};

/// Something that answers requests: the core in the hands of this suite, or a server.
pub(crate) trait Target {
    fn name(&self) -> &'static str;

    /// How an application can mount the receiver.
    fn styles(&self) -> Vec<Style>;

    /// How the handler's `Ok(())` goes out.
    fn handled(&self) -> Answer;

    /// What this target owes by a promise, if anything.
    fn owes(&self, promise: Promise) -> Option<Outcome>;

    /// Sends the request of a row, and also says what went over the wire, without the date.
    fn exchange(&self, style: Style, row: &Row) -> (Exchange, String);
}

/// What came of a table that was held against a target.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many rows each style owed.
    pub(crate) owed: Vec<usize>,
    /// In the order of the table.
    pub(crate) disagreements: Vec<Disagreement>,
}

#[derive(Debug)]
pub(crate) struct Disagreement {
    pub(crate) situation: &'static str,
    pub(crate) text: String,
}

pub(crate) fn run(target: &impl Target, rows: &[Row]) -> Report {
    let mut report = Report::default();
    for style in target.styles() {
        let mut owed = 0;
        let mut to_strangers = BTreeSet::new();
        for row in rows {
            let Some(outcome) = target.owes(row.promise(style)) else {
                continue;
            };
            owed += 1;
            let method = &row.request.method;
            let expected = Exchange::expected(&outcome, target.handled(), method);
            let (found, wire) = target.exchange(style, row);
            let mut disagree = |text| {
                let (name, situation) = (target.name(), row.situation);
                let text = format!("{name}, {style:?}: {situation}\n{text}");
                report.disagreements.push(Disagreement { situation, text });
            };
            if found != expected {
                disagree(format!("  expected {expected:?}\n  found    {found:?}"));
            }
            // Whatever a stranger did wrong, the bytes of the answer are the same; only that the
            // connection is closed may be added.
            let status = found.answer.map(|heard| heard.status);
            if status == Ok(401) {
                to_strangers.insert((outcome.closes, wire));
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
