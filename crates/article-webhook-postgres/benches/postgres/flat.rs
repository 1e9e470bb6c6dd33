use crate::{
    claims::{deliver, rate},
    contenders::Contender,
    fill,
    form::{Form, median},
    load::Race,
    table::{Table, at_least, plain},
};

/// How much of its rate an inbox with a past must keep.
const TARGET: f64 = 0.8;

const ENTRIES: usize = 5_000;

/// The rates with many done entries, compared with an empty inbox.
pub(crate) fn run(form: Form) {
    let (count, name) = match form {
        Form::Short => (1_000_000, "1,000,000 done entries"),
        Form::Long => (10_000_000, "10,000,000 done entries"),
    };
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let stores = runtime.block_on(async {
        let stores = [crate::store(&url, "new").await, crate::store(&url, "long").await];
        fill::done(&crate::connect(&url).await, "long", count).await;
        stores
    });
    let mut claims = [Vec::new(), Vec::new()];
    for _ in 0..form.rounds() {
        for (store, rates) in stores.iter().zip(&mut claims) {
            rates.push(runtime.block_on(async {
                deliver(store, ENTRIES, 16 * 1024).await;
                rate(store.clone(), 16, ENTRIES).await
            }));
        }
    }
    let ratio = median(claims[1].iter().zip(&claims[0]).map(|(long, new)| long / new));
    let contenders = stores.map(Contender::Store);
    let race = Race::run(&contenders, 64, form.rounds(), form.turn(), &runtime);
    let mut table = Table::new(
        "postgres: flat",
        "deliveries of 16 KB a second, 64 waiting, and entries that 16 handlers complete a second : the same without a past",
        &["inbox", "deliveries", ": new", "p99", "entries", ": new"],
    );
    let new = [plain(race.rate(0), ""), plain(1.0, " ×"), plain(race.p99(0), " ms")];
    table.row(
        "new",
        new.into_iter().chain([plain(median(claims[0].clone()), ""), plain(1.0, " ×")]),
    );
    table.row(
        name,
        [
            plain(race.rate(1), ""),
            at_least(race.ratio(1, 0), TARGET, " ×"),
            plain(race.p99(1), " ms"),
            plain(median(claims[1].clone()), ""),
            at_least(ratio, TARGET, " ×"),
        ],
    );
    println!("{table}");
}
