use article_inbox::store::{Claim, Events, Store};
use article_inbox_postgres::PostgresStore;
use tokio_postgres::Client;

use crate::{
    bodies::Bodies,
    contenders::Contender,
    form::Form,
    load::Race,
    table::{Table, plain},
};

/// How each way to store a body is set.
const WAYS: [(&str, &str); 3] = [
    ("external", "SET STORAGE EXTERNAL"),
    ("lz4", "SET STORAGE EXTENDED, ALTER body SET COMPRESSION lz4"),
    ("pglz", "SET STORAGE EXTENDED, ALTER body SET COMPRESSION pglz"),
];

/// The ways in which PostgreSQL can store the bodies of articles.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let (client, contenders) = runtime.block_on(async {
        let client = crate::connect(&url).await;
        let mut contenders = Vec::new();
        for (name, way) in WAYS {
            contenders.push(Contender::Store(crate::store(&url, name).await));
            let alter = format!("ALTER TABLE {name}.article_inbox_bodies ALTER body {way}");
            client.batch_execute(&alter).await.unwrap();
        }
        (client, contenders)
    });
    let mut table = Table::new(
        "deliveries of 16 KB a second, 64 waiting, by the storage of bodies : that of the schema; what one takes; and claims of 16",
        &[
            "storage",
            "a second",
            ": external",
            "p99",
            "bytes on disk",
            "bytes of log",
            "claims a second",
        ],
    );
    let race = Race::run(&contenders, 64, form.rounds(), form.turn(), &runtime);
    for (index, (name, _)) in WAYS.into_iter().enumerate() {
        let Contender::Store(store) = &contenders[index] else { unreachable!("as above") };
        let (disk, log, claims) = runtime.block_on(costs(&client, store, name));
        table.row(
            name,
            [
                plain(race.rate(index), ""),
                plain(race.ratio(index, 0), " ×"),
                plain(race.p99(index), " ms"),
                plain(disk, ""),
                plain(log, ""),
                plain(claims, ""),
            ],
        );
    }
    println!("{table}");
}

/// The bytes of a delivery on disk and in the log, and claims a second.
async fn costs(client: &Client, store: &PostgresStore, schema: &str) -> (f64, f64, f64) {
    let number =
        async |query: &str| -> f64 { client.query_one(query, &[]).await.unwrap().get::<_, f64>(0) };
    let disk = number(&format!(
        "SELECT pg_total_relation_size('{schema}.article_inbox_bodies') / count(*)::float8 FROM {schema}.article_inbox_bodies"
    ))
    .await;

    let position = "SELECT (pg_current_wal_lsn() - '0/0')::float8";
    client.batch_execute("CHECKPOINT").await.unwrap();
    let (before, bodies, mut random) =
        (number(position).await, Bodies::new(16 * 1024), fastrand::Rng::new());
    for _ in 0..500 {
        store.record(bodies.arrival(&mut random)).await.unwrap();
    }
    let log = (number(position).await - before) / 500.0;

    let claim = Claim {
        limit: 16,
        lease: std::time::Duration::from_secs(600),
        attempts: 8,
        running: 0,
        events: Events::All,
    };
    let start = std::time::Instant::now();
    let mut claimed = 0;
    while claimed < 3000 {
        claimed += store.claim(claim).await.unwrap().claimed.len();
    }
    (disk, log, claimed as f64 / start.elapsed().as_secs_f64())
}
