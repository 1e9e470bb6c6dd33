use tokio_postgres::Client;

use crate::{
    claims::{deliver, rate},
    contenders::Contender,
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
        fill(&crate::connect(&url).await, "long", count).await;
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

/// Adds that many done entries with bodies that retention has emptied, as they are after some weeks, and brings the server's
/// statistics up to date. They are of the last hours, so that retention does not remove them during the measurement.
async fn fill(client: &Client, schema: &str, count: i64) {
    let fill = format!(
        "SET synchronous_commit = off; \
         INSERT INTO {schema}.article_inbox_entries (job_id, event, state, attempts, fence, at, lease_end, since, received_at, \
         held, target, document, checksum) \
         SELECT 'job_' || lpad(to_hex(n * (1152921504606846976 / ({count} + 1))), 15, '0'), 'article.complete', 'done', 1, 1, \
         start + n, 0, start + n, start + n, 0, 'blog', '{{}}', 0 FROM generate_series(1::bigint, {count}) n, \
         (SELECT floor(extract(epoch FROM now()) * 1000)::bigint - {count} AS start) clock; \
         INSERT INTO {schema}.article_inbox_bodies (entry, slot, received_at, digest, document, checksum) \
         SELECT id, 0, received_at, sha256(job_id::bytea), '', 0 FROM {schema}.article_inbox_entries; \
         SET synchronous_commit = on"
    );
    client.batch_execute(&fill).await.unwrap();
    for table in ["entries", "bodies"] {
        let vacuum = format!("VACUUM (ANALYZE) {schema}.article_inbox_{table}");
        client.batch_execute(&vacuum).await.unwrap();
    }
    // Vacuum has written to every page. A checkpoint writes them to disk, and would do it during the measurement.
    client.batch_execute("CHECKPOINT").await.unwrap();
}
