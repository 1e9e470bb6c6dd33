use std::{
    thread,
    time::{Duration, Instant},
};

use tokio_postgres::NoTls;

use super::shared;
use crate::{
    database::{Database, rows},
    form::Form,
    scene::wait,
    server::Server,
    trial,
};

/// How long a delivery may take to be refused on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The server ends at once, without a checkpoint, and starts again.
pub(crate) fn restart(form: Form) -> Option<()> {
    let mut server = Server::start(&[])?;
    trial::run("restart", Database::fresh(&[server.port]), |trial| {
        let restarts = form.choose(4, 100);
        for _ in 0..restarts {
            thread::sleep(Duration::from_millis(fastrand::u64(20..500)));
            server.crash();
            server.start_again();
            trial.goes_on("after a restart");
        }
        format!("{restarts} restarts")
    });
    Some(())
}

/// Connections of the nodes and of their handlers are killed, one after the other, whatever they do.
pub(crate) fn backends(form: Form) -> Option<()> {
    let server = shared()?;
    trial::run("backends", Database::fresh(&[server.port]), |trial| {
        let kills = form.choose(100, 1000);
        let client = trial.database.connect();
        // Not one that has only just been made: those who wait would not get further.
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'inbox' ORDER BY random() LIMIT 1";
        let mut killed = 0;
        while killed < kills {
            killed += rows(&client, kill).unwrap().len();
            thread::sleep(Duration::from_millis(fastrand::u64(5..30)));
        }
        format!("{killed} connections killed")
    });
    Some(())
}

/// Others take every connection of the server, and then every connection of the nodes waits for a lock of another program.
pub(crate) fn exhausted(form: Form) -> Option<()> {
    let server = Server::start(&["max_connections = 24"])?;
    trial::run("exhausted", Database::fresh(&[server.port]), |trial| {
        let rounds = form.choose(1, 10);
        for _ in 0..rounds {
            let client = trial.database.connect();
            let url = trial.database.url();
            let others = wait(async move {
                let mut others = Vec::new();
                let began = Instant::now();
                // On a busy machine, they take longer to get as many.
                while began.elapsed() < Duration::from_secs(3)
                    || (others.len() <= 10 && began.elapsed() < Duration::from_secs(30))
                {
                    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                        WHERE application_name LIKE 'article_inbox %'";
                    client.batch_execute(kill).await.unwrap();
                    if let Ok((other, connection)) = tokio_postgres::connect(&url, NoTls).await {
                        tokio::spawn(connection);
                        others.push(other);
                    }
                }
                others
            });
            assert!(others.len() > 10, "others have only {} connections", others.len());
            let refused = trial.refuses_within(TIMEOUT);
            assert!(refused, "nothing is refused while others have every connection");
            drop(others);
            trial.goes_on("after the server had no connection left");

            let holder = trial.database.connect();
            let table = format!("{}.article_inbox_entries", trial.database.schema);
            rows(&holder, &format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")).unwrap();
            // Those of both nodes, for workers and for deliveries.
            trial.database.wait_for(
                "SELECT FROM pg_stat_activity WHERE usename = 'inbox' AND wait_event_type = 'Lock' \
                 HAVING count(*) > 3",
            );
            let refused = trial.refuses_within(TIMEOUT);
            assert!(refused, "nothing is refused while every connection waits");
            rows(&holder, "COMMIT").unwrap();
            trial.goes_on("after every connection was held up");
        }
        format!("{rounds} times without a connection")
    });
    Some(())
}
