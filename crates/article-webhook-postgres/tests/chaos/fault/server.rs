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

/// An administrator sets time-outs that are shorter than what the inbox does. They are for other programs.
pub(crate) fn timeout(form: Form) -> Option<()> {
    let server = shared()?;
    trial::run("timeout", Database::fresh(&[server.port]), |trial| {
        let database = &trial.database;
        for (setting, value) in [
            ("statement_timeout", "100ms"),
            ("lock_timeout", "5ms"),
            ("idle_in_transaction_session_timeout", "100ms"),
        ] {
            database.run(&format!("ALTER ROLE inbox SET {setting} = '{value}'"));
        }
        database.kill_nodes_connections();
        trial.goes_on("under short time-outs");
        // A lock that lasts longer than they do is waited for: the senders would be refused several times in each round.
        let holder = database.connect();
        let (rounds, before) = (form.choose(5, 100), trial.refused());
        for _ in 0..rounds {
            let table = format!("{}.article_inbox_entries", database.schema);
            rows(&holder, &format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE")).unwrap();
            thread::sleep(Duration::from_millis(400));
            rows(&holder, "COMMIT").unwrap();
            thread::sleep(Duration::from_millis(100));
        }
        // What begins a transaction is under the time-outs of the role, which a busy machine may reach.
        let refused = trial.refused() - before;
        assert!(refused < rounds, "{refused} deliveries were refused because of {rounds} locks");
        trial.goes_on("under short time-outs");
        database.run("ALTER ROLE inbox RESET ALL");
        database.kill_nodes_connections();
        format!("{rounds} locks under short time-outs")
    });
    Some(())
}
