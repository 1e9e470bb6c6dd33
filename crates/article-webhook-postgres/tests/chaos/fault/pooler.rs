use std::{thread, time::Duration};

use crate::{
    bouncer::Bouncer,
    database::{Database, rows},
    form::Form,
    server::Server,
    trial,
};

/// `PgBouncer` stands between, in its mode `transaction`. Its connections are killed, the server crashes, and it ends itself.
pub(crate) fn pooler(form: Form) -> Option<()> {
    let mut server = Server::start(&[])?;
    let mut bouncer = Bouncer::before(&server)?;
    let database = Database::fresh(&[server.port]).through(bouncer.port);
    trial::run("pooler", database, |trial| {
        let (rounds, kills) = (form.choose(1, 20), 30);
        for _ in 0..rounds {
            let client = trial.database.connect();
            let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'inbox' ORDER BY random() LIMIT 1";
            let mut killed = 0;
            while killed < kills {
                killed += rows(&client, kill).unwrap().len();
                thread::sleep(Duration::from_millis(fastrand::u64(5..30)));
            }
            trial.goes_on("after connections of the pooler were killed");
            server.crash();
            server.start_again();
            trial.goes_on("after a restart behind the pooler");
            bouncer.restart();
            trial.goes_on("after the pooler started again");
        }
        format!(
            "{} connections of PgBouncer killed, {rounds} restarts of the server, {rounds} of PgBouncer",
            rounds * kills
        )
    });
    Some(())
}
