//! The pages of the guide for operators, followed.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use article_webhook_inbox::{Filter, store::Store as _};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::{
    CLAIM, arrival, record_each,
    scene::{self, wait},
    server::{Server, User, free_port, programs},
};

const PAGES: &str = concat!(
    include_str!("../../../article-webhook/src/guide/postgres_operations.md"),
    include_str!("../../../article-webhook/src/guide/postgres_restore.md")
);

/// The blocks of the pages in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    PAGES.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The statements of the pages, in their order.
fn statements() -> impl Iterator<Item = &'static str> {
    blocks("sql").into_iter().flat_map(|block| block.split_inclusive(";\n"))
}

/// How many rows each alarm returns.
async fn alarms(client: &Client) -> Vec<usize> {
    let mut rows = Vec::new();
    for alarm in statements().filter(|statement| {
        statement.starts_with("-- ")
            || statement.contains("pg_replication_slots")
            || statement.contains("pg_prepared_xacts")
    }) {
        let answer = client.simple_query(alarm).await.unwrap();
        let is_row = |message: &&SimpleQueryMessage| matches!(message, SimpleQueryMessage::Row(_));
        rows.push(answer.iter().filter(is_row).count());
    }
    rows
}

#[test]
fn each_statement_of_the_pages_runs_and_the_alarms_are_silent_until_something_is_wrong() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url();
    wait(async move {
        let store = PostgresStore::connect(PostgresSettings::new(&url).unwrap()).await.unwrap();
        let client = scene::connect(&url).await;
        record_each(&store, &["job_1", "job_2", "job_3"]).await;
        store.claim(article_webhook_inbox::store::Claim { limit: 1, ..CLAIM }).await.unwrap();
        assert_eq!(alarms(&client).await, [0; 9]);

        for statement in statements() {
            client
                .simple_query(statement)
                .await
                .unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let wrong = "UPDATE article_inbox_entries SET lease_end = 0 WHERE state = 'leased'; \
            UPDATE article_inbox_entries SET at = 0 WHERE job_id = 'job_2'; \
            UPDATE article_inbox_entries SET state = 'dead' WHERE job_id = 'job_3'";
        client.batch_execute(wrong).await.unwrap();
        // The page on restores has paused claims, and noted gaps.
        assert_eq!(alarms(&client).await, [1, 1, 1, 2, 0, 0, 0, 0, 0]);
    });
}

/// A server in a folder, which the commands of the pages start and stop.
struct Cluster {
    folder: tempfile::TempDir,
    user: User,
    programs: PathBuf,
}

impl Cluster {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs commands as the user of the server.
    fn run(&self, script: &str, variables: &[(&str, &str)]) {
        let log = self.path("commands.log");
        let output = || File::options().create(true).append(true).open(&log).unwrap();
        let mut shell: Command = self.user.command(Path::new("sh"), self.folder.path());
        let path = format!("{}:{}", self.programs.display(), std::env::var("PATH").unwrap());
        shell.args(["-ec", script]).env("PATH", path).envs(variables.iter().copied());
        shell.stdin(Stdio::null()).stdout(output()).stderr(output());
        let ended = shell.status().unwrap();
        assert!(ended.success(), "{script}: {}", fs::read_to_string(&log).unwrap());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for data in ["data", "backup"] {
            let mut stop = self.user.command(&self.programs.join("pg_ctl"), self.folder.path());
            stop.args(["stop", "--mode=immediate", "--pgdata"]).arg(self.path(data));
            drop(stop.stdout(Stdio::null()).stderr(Stdio::null()).status());
        }
    }
}

#[test]
fn a_restore_to_a_moment_has_what_was_stored_until_then_and_nothing_after() {
    let Some(programs) = programs() else { return };
    let cluster =
        Cluster { folder: tempfile::tempdir().unwrap(), user: User::unprivileged(), programs };
    cluster.user.own(cluster.folder.path());
    let port = free_port().to_string();
    let url = format!("postgresql://postgres@127.0.0.1:{port}/postgres");
    let paths = ["data", "archive", "backup"].map(|name| cluster.path(name).display().to_string());
    let [data, archive, backup] = paths;
    let begin = "initdb --auth=trust --username=postgres --no-sync --pgdata \"$DATA\"; mkdir \"$ARCHIVE\"
        echo \"port = $PORT\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\" >> \"$DATA/postgresql.conf\"
        pg_ctl --pgdata \"$DATA\" --wait start";
    let mut variables =
        vec![("ADMIN_URL", &*url), ("DATA", &data), ("ARCHIVE", &archive), ("BACKUP", &backup)];
    let [prepare, save, restore] = blocks("sh")[..] else { panic!("three blocks") };
    cluster.run(begin, &[&variables[..], &[("PORT", &*port)]].concat());
    cluster.run(prepare, &variables);
    let settings = PostgresSettings::new(&url).unwrap();
    let moment: String = wait({
        let (settings, url) = (settings.clone(), url.as_str().to_owned());
        async move {
            let store = PostgresStore::connect(settings).await.unwrap();
            store.record(arrival("job_1", "{}")).await.unwrap();
            let client = scene::connect(&url).await;
            let moment =
                client.query_one("SELECT clock_timestamp()::text", &[]).await.unwrap().get(0);
            store.record(arrival("job_2", "{}")).await.unwrap();
            client.batch_execute("DROP TABLE article_inbox_bodies").await.unwrap();
            store.close().await.unwrap();
            moment
        }
    });
    cluster.run(save, &variables);
    variables.push(("MOMENT", &moment));
    cluster.run(restore, &variables);
    wait(async move {
        let store = PostgresStore::connect(settings).await.unwrap();
        let entries = store.list(Filter::default()).await.unwrap().items;
        let jobs: Vec<_> = entries.iter().map(|entry| entry.key.job_id.as_str()).collect();
        assert_eq!(jobs, ["job_1"]);
        assert_eq!(store.check().await.unwrap(), []);
        store.close().await.unwrap();
    });
}
