use std::{fs, process::Command, time::Duration};

use article_webhook::fixture;
use article_webhook_inbox::store::Store as _;
use tempfile::TempDir;

use super::naive::statement;
use crate::server::programs;

/// A run of PostgreSQL's own program: the same rows with the same bytes, and nothing of ours.
pub(crate) struct Pgbench {
    url: String,
    folder: TempDir,
    body: String,
}

impl Pgbench {
    /// The tables are made in a schema of their own.
    pub(crate) async fn new(url: &str, schema: &str) -> Self {
        crate::store(url, schema).await.close().await.unwrap();
        let job_id = "'job_' || lpad(to_hex(:number::bigint), 15, '0')";
        let digest = "decode(repeat('00', 32), 'hex')";
        let statement = statement(schema, job_id, digest, "convert_to(:body::text, 'UTF8')");
        let folder = tempfile::tempdir().unwrap();
        let script = format!("\\set number random(0, 1152921504606846975)\n{statement};\n");
        fs::write(folder.path().join("script"), script).unwrap();
        let body = String::from_utf8(fixture::generated(1, 16 * 1024).bytes().to_vec());
        Self { url: url.into(), folder, body: body.unwrap() }
    }
}

/// More connections than this take longer to open than a turn lasts.
const MOST: usize = 64;

/// Transactions a second with that many connections.
pub(crate) fn rate(pgbench: &Pgbench, connections: usize, turn: Duration) -> f64 {
    let connections = connections.min(MOST);
    let output = Command::new(programs().unwrap().join("pgbench"))
        .args(["--no-vacuum", "--protocol=prepared", "--jobs=2"])
        .arg(format!("--client={connections}"))
        .arg(format!("--time={}", turn.as_secs() + 3))
        .arg(format!("--define=body={}", pgbench.body))
        .arg("--file")
        .arg(pgbench.folder.path().join("script"))
        .arg(&pgbench.url)
        .output()
        .unwrap();
    let (printed, wrong) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    let rate = printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    rate.unwrap_or_else(|| panic!("pgbench: {wrong}")).parse().unwrap()
}
