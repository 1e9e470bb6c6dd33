use std::sync::Arc;

use article_inbox::SqliteStore;

use crate::{
    contenders::{Contender, naive::Naive, pgbench::Pgbench},
    form::Form,
    load::Race,
    scratch,
    table::{Table, at_least, plain},
};

/// The number of waiting deliveries, and the ratios to the naive contender and to pgbench that are wanted.
const TARGETS: [(usize, Option<f64>, Option<f64>); 4] =
    [(1, Some(0.9), None), (8, None, None), (64, Some(1.25), Some(0.6)), (256, None, None)];

/// Deliveries that are on disk before they are answered.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url, folder) = (crate::runtime(), server.url(), scratch::folder());
    let contenders = runtime.block_on(async {
        [
            Contender::Naive(Arc::new(Naive::connect(&url, "naive").await)),
            Contender::Store(crate::store(&url, "store").await),
            Contender::Pgbench(Arc::new(Pgbench::new(&url, "pgbench").await)),
            Contender::Sqlite(SqliteStore::open(folder.path().join("inbox.db")).unwrap()),
        ]
    });
    let mut table = Table::new(
        "deliveries of 16 KB a second, on disk before they are answered : one prepared INSERT each on a pool of the same size, \
         and pgbench with a connection for each that waits",
        &[
            "waiting",
            "naive",
            "store",
            ": naive",
            "pgbench",
            "store : pgbench",
            "p99",
            "naive's",
            "SQLite's store",
        ],
    );
    for (waiting, naive, pgbench) in TARGETS {
        let race = Race::run(&contenders, waiting, form.rounds(), form.turn(), &runtime);
        let against = |ratio: f64, target: Option<f64>| {
            target.map_or_else(|| plain(ratio, " ×"), |target| at_least(ratio, target, " ×"))
        };
        table.row(
            waiting,
            [
                plain(race.rate(0), ""),
                plain(race.rate(1), ""),
                against(race.ratio(1, 0), naive),
                plain(race.rate(2), ""),
                against(race.ratio(1, 2), pgbench),
                plain(race.p99(1), " ms"),
                plain(race.p99(0), " ms"),
                plain(race.rate(3), ""),
            ],
        );
    }
    println!("{table}");
}
