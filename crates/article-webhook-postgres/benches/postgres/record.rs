use std::sync::Arc;

use article_webhook_inbox::SqliteStore;

use crate::{
    contenders::{
        Contender,
        naive::{Naive, Naming},
        pgbench::Pgbench,
    },
    form::Form,
    load::Race,
    scratch,
    table::{Table, at_least, plain},
};

/// The number of waiting deliveries, and the ratios to the naive contender and to pgbench that are wanted. A single delivery takes
/// two round trips where one statement takes one, so nothing is wanted of it.
const TARGETS: [(usize, [Option<f64>; 3]); 4] = [
    (1, [None, None, None]),
    (8, [None, None, None]),
    (64, [Some(1.25), Some(1.25), Some(0.6)]),
    (256, [None, None, None]),
];

/// Deliveries that are on disk before they are answered.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url, folder) = (crate::runtime(), server.url(), scratch::folder());
    let contenders = runtime.block_on(async {
        [
            Contender::Naive(Arc::new(Naive::connect(&url, "naive", Naming::Prepared).await)),
            Contender::Store(crate::store(&url, "store").await),
            Contender::Pgbench(Arc::new(Pgbench::new(&url, "pgbench").await)),
            Contender::Sqlite(SqliteStore::open(folder.path().join("inbox.db")).unwrap()),
            Contender::Naive(Arc::new(Naive::connect(&url, "unnamed", Naming::Unnamed).await)),
        ]
    });
    let mut table = Table::new(
        "postgres: record",
        "deliveries of 16 KB a second, on disk before they are answered : one INSERT each, prepared or not, on a pool of the same \
         size, and pgbench with at most 64 connections",
        &[
            "waiting",
            "prepared",
            "unnamed",
            "pgbench",
            "store",
            ": prepared",
            ": unnamed",
            ": pgbench",
            "p99",
            "prepared's",
            "SQLite's store",
        ],
    );
    for (waiting, targets) in TARGETS {
        let race = Race::run(&contenders, waiting, form.rounds(), form.turn(), &runtime);
        let against = |peer: usize, target: Option<f64>| {
            let ratio = race.ratio(1, peer);
            target.map_or_else(|| plain(ratio, " ×"), |target| at_least(ratio, target, " ×"))
        };
        let [prepared, unnamed, pgbench] = targets;
        table.row(
            waiting,
            [
                plain(race.rate(0), ""),
                plain(race.rate(4), ""),
                plain(race.rate(2), ""),
                plain(race.rate(1), ""),
                against(0, prepared),
                against(4, unnamed),
                against(2, pgbench),
                plain(race.p99(1), " ms"),
                plain(race.p99(0), " ms"),
                plain(race.rate(3), ""),
            ],
        );
    }
    println!("{table}");
}
