use crate::{
    claims,
    form::{Form, median},
    scratch,
    table::{Table, at_least, plain},
    tombstones::fill,
};

const TOMBSTONES: i64 = 1_000_000;
const TARGET: f64 = 5_000.0;

/// How many entries per second a worker claims, reads and completes, in a file with many tombstones.
pub(crate) fn run(form: Form) {
    let runtime = crate::runtime();
    let folder = scratch::folder();
    let path = folder.path().join("inbox.db");
    fill(&path, TOMBSTONES);
    let mut table = Table::new(
        "inbox: work",
        "entries of 16 KB a second, claimed and completed by one worker, in a file with 1,000,000 tombstones",
        &["handlers at once", "a second"],
    );
    for concurrency in [4, 16, 64] {
        let rates = (0..form.rounds()).map(|_| runtime.block_on(claims::rate(&path, concurrency)));
        let rate = median(rates);
        let figure = if concurrency == 4 { at_least(rate, TARGET, "") } else { plain(rate, "") };
        table.row(concurrency, [figure]);
    }
    println!("{table}");
}
