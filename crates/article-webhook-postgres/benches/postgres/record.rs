use std::sync::Arc;

use crate::{
    contenders::{Contender, Naive},
    form::Form,
    load::Race,
    table::{Table, at_least, plain},
};

/// The number of waiting deliveries, and the ratio to the naive contender that is wanted. A single delivery takes two round trips
/// where one statement takes one, so nothing is wanted of it.
const TARGETS: [(usize, Option<f64>); 4] = [(1, None), (8, None), (64, Some(1.25)), (256, None)];

/// Deliveries that are on disk before they are answered.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let contenders = runtime.block_on(async {
        let naive = Naive::connect(&url, "naive").await;
        [Contender::Naive(Arc::new(naive)), Contender::Store(crate::store(&url, "store").await)]
    });
    let mut table = Table::new(
        "postgres: record",
        "deliveries of 16 KB a second, on disk before they are answered : one prepared INSERT each, on a pool of the same size",
        &["waiting", "prepared", "store", ": prepared", "p99", "prepared's"],
    );
    for (waiting, target) in TARGETS {
        let race = Race::run(&contenders, waiting, form.rounds(), form.turn(), &runtime);
        let ratio = race.ratio(1, 0);
        table.row(
            waiting,
            [
                plain(race.rate(0), ""),
                plain(race.rate(1), ""),
                target.map_or_else(|| plain(ratio, " ×"), |target| at_least(ratio, target, " ×")),
                plain(race.p99(1), " ms"),
                plain(race.p99(0), " ms"),
            ],
        );
    }
    println!("{table}");
}
