use article_webhook_inbox::store::{Claim, Events, Outcome, Store};
use article_webhook_postgres::PostgresStore;
use tokio::task::JoinSet;
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
        "postgres: storage",
        "deliveries of 16 KB a second, 64 waiting, by the storage of bodies : stored as they are; the bytes that one takes on disk \
         as a body and as an entry with its indexes, and in the log until it is stored and from then until it is done; and claims \
         of 16",
        &[
            "storage",
            "a second",
            ": external",
            "p99",
            "body",
            "entry",
            "log, stored",
            "log, done",
            "claims a second",
        ],
    );
    let race = Race::run(&contenders, 64, form.rounds(), form.turn(), &runtime);
    for (index, (name, _)) in WAYS.into_iter().enumerate() {
        let Contender::Store(store) = &contenders[index] else { unreachable!("as above") };
        let costs = runtime.block_on(costs(&client, store, name));
        table.row(
            name,
            [
                plain(race.rate(index), ""),
                plain(race.ratio(index, 0), " ×"),
                plain(race.p99(index), " ms"),
            ]
            .into_iter()
            .chain(costs.map(|cost| plain(cost, ""))),
        );
    }
    println!("{table}");
}

/// How many deliveries are measured.
const MEASURED: usize = 3000;

/// The bytes of a delivery on disk and in the log, and claims a second.
async fn costs(client: &Client, store: &PostgresStore, schema: &str) -> [f64; 5] {
    let number =
        async |query: &str| -> f64 { client.query_one(query, &[]).await.unwrap().get::<_, f64>(0) };
    let size = async |table: &str| {
        let table = format!("{schema}.article_inbox_{table}");
        number(&format!("SELECT pg_total_relation_size('{table}') / count(*)::float8 FROM {table}"))
            .await
    };
    let position = "SELECT (pg_current_wal_lsn() - '0/0')::float8";
    client.batch_execute("CHECKPOINT").await.unwrap();
    let (before, bodies, mut random) =
        (number(position).await, Bodies::new(16 * 1024), fastrand::Rng::new());
    for _ in 0..MEASURED {
        store.record(bodies.arrival(&mut random)).await.unwrap();
    }
    let stored = (number(position).await - before) / MEASURED as f64;
    let (body, entry) = (size("bodies").await, size("entries").await);

    let claim = Claim {
        limit: 16,
        lease: std::time::Duration::from_secs(600),
        attempts: 8,
        running: 0,
        events: Events::All,
        retries_first: false,
    };
    let before = number(position).await;
    let (mut leases, start) = (Vec::new(), std::time::Instant::now());
    while leases.len() < MEASURED {
        let claims = store.claim(claim).await.unwrap();
        leases.extend(claims.claimed.iter().map(|claimed| claimed.lease));
    }
    let (claimed, took) = (leases.len() as f64, start.elapsed().as_secs_f64());
    // As by 16 handlers at once.
    let mut settling = JoinSet::new();
    for leases in leases.chunks(leases.len().div_ceil(16)).map(<[_]>::to_vec) {
        let store = store.clone();
        settling.spawn(async move {
            for lease in leases {
                store.settle(lease, Outcome::Done).await.unwrap();
            }
        });
    }
    settling.join_all().await;
    let done = (number(position).await - before) / claimed;
    [body, entry, stored, done, claimed / took]
}
