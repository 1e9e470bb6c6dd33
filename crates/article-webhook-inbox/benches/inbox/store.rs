use std::{path::Path, sync::Arc};

use article_webhook_inbox::SqliteStore;

use crate::{
    contenders::{Contender, naive::Naive},
    form::Form,
    load::Race,
    scratch,
    table::{Table, at_least, at_most, plain},
};

/// The number of waiting deliveries, the ratio to the naive contender that is wanted, and the p99 in milliseconds.
const TARGETS: [(usize, Option<f64>, Option<f64>); 4] = [
    (1, Some(0.85), None),
    (8, None, None),
    (64, Some(3.0), Some(10.0)),
    (256, Some(3.7), Some(60.0)),
];

/// The store and the naive contender, each in a file of its own.
fn contenders(folder: &Path) -> [Contender; 2] {
    let store = SqliteStore::open(folder.join("inbox.db")).unwrap();
    [Contender::Naive(Arc::new(Naive::open(folder))), Contender::Store(store)]
}

pub(crate) fn run(form: Form) {
    let runtime = crate::runtime();
    let mut table = Table::new(
        "inbox: store",
        "deliveries of 16 KB a second, on disk before they are answered : one SQLite transaction each",
        &["waiting", "naive", "store", ": naive", "p99", "naive's"],
    );
    for (waiting, ratio, slowest) in TARGETS {
        let folder = scratch::folder();
        let contenders = contenders(folder.path());
        let race = Race::run(&contenders, waiting, form.rounds(), form.turn(), &runtime);
        let against =
            |value, target: Option<f64>, mark: fn(f64, f64, &str) -> String, unit: &str| {
                target.map_or_else(|| plain(value, unit), |target| mark(value, target, unit))
            };
        table.row(
            waiting,
            [
                plain(race.rate(0), ""),
                plain(race.rate(1), ""),
                against(race.ratio(1, 0), ratio, at_least, " ×"),
                against(race.p99(1), slowest, at_most, " ms"),
                plain(race.p99(0), " ms"),
            ],
        );
    }
    println!("{table}");
}
