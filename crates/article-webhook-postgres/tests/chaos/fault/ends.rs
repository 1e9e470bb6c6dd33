use std::{thread, time::Duration};

use super::shared;
use crate::{
    bouncer::Bouncer,
    database::{Database, rows},
    form::Form,
    proxy::{Fate, Proxy},
    server::Server,
    trial::{self, Trial},
};

/// The server ends at once, without a checkpoint, and starts again.
pub(crate) fn restart(form: Form) -> Option<()> {
    let mut server = Server::start(&[])?;
    trial::run("restart", Database::fresh(&[server.port]), |trial| {
        let restarts = form.choose(4, 100);
        for _ in 0..restarts {
            some_time();
            server.crash();
            server.start_again();
            trial.goes_on("after a restart");
        }
        format!("{restarts} restarts")
    });
    Some(())
}

/// Connections of the nodes and of their handlers are killed.
pub(crate) fn backends(form: Form) -> Option<()> {
    let server = shared()?;
    trial::run("backends", Database::fresh(&[server.port]), |trial| {
        format!("{} connections killed", kill_connections(trial, form.choose(50, 1000)))
    });
    Some(())
}

/// Nodes are killed. What they held is handed out again when its lease ends.
pub(crate) fn node(form: Form) -> Option<()> {
    let server = shared()?;
    trial::run("node", Database::fresh(&[server.port]), |trial| {
        let kills = form.choose(6, 200);
        for kill in 0..kills {
            some_time();
            trial.kill(kill % 2);
        }
        format!("{kills} nodes killed")
    });
    Some(())
}

/// `PgBouncer` stands between, in its mode `transaction`. Its connections are killed, the server crashes, and it ends itself.
pub(crate) fn pooler(form: Form) -> Option<()> {
    let mut server = Server::start(&[])?;
    let mut bouncer = Bouncer::before(&server)?;
    let database = Database::fresh(&[server.port]).through(bouncer.port);
    trial::run("pooler", database, |trial| {
        let (rounds, mut killed) = (form.choose(1, 20), 0);
        for _ in 0..rounds {
            killed += kill_connections(trial, 30);
            trial.goes_on("after connections of the pooler were killed");
            server.crash();
            server.start_again();
            trial.goes_on("after a restart behind the pooler");
            bouncer.restart();
            trial.goes_on("after the pooler started again");
        }
        format!(
            "{killed} connections of PgBouncer killed, {rounds} restarts of the server, {rounds} of PgBouncer"
        )
    });
    Some(())
}

/// Kills connections of the role of the nodes, one after the other, whatever they do, until there were that many.
fn kill_connections(trial: &Trial, wanted: usize) -> usize {
    let client = trial.database.connect();
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'inbox' ORDER BY random() LIMIT 1";
    let mut killed = 0;
    while killed < wanted {
        killed += rows(&client, kill).unwrap().len();
        thread::sleep(Duration::from_millis(fastrand::u64(5..30)));
    }
    killed
}

/// Until that number of connections is cut, one commit in four has this fate.
pub(super) fn cut_some(proxy: &Proxy, wanted: usize, fate: impl Fn() -> Fate + Send + 'static) {
    let before = proxy.cuts();
    proxy.fate(move || if fastrand::u32(..4) > 0 { Fate::Passed } else { fate() });
    while proxy.cuts() - before < wanted {
        thread::sleep(Duration::from_millis(10));
    }
    proxy.fate(|| Fate::Passed);
}

/// A pause at random, in which the nodes work.
fn some_time() {
    thread::sleep(Duration::from_millis(fastrand::u64(20..500)));
}
