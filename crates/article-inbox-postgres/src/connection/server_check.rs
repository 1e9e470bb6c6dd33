use tokio_postgres::{Client, Row};

use super::row::first;
use crate::fault::Fault;

/// The oldest version that is supported, as the server counts.
const OLDEST: i32 = 130_000;

/// What a server must be, in one statement.
pub(crate) const SERVER: &str = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
    current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on', current_setting('server_encoding'), \
    pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'";

/// Judges the server of a connection: a failover may lead to one that is set up differently.
pub(super) async fn check(client: &Client) -> Result<(), Fault> {
    // A pooler makes its own connection only now.
    let server = client.query_typed(SERVER, &[]).await.map_err(Fault::Connecting)?;
    judged(first(&server)?)
}

/// Refuses a server on which an acknowledged delivery could be lost, by what it says of itself.
pub(crate) fn judged(server: &Row) -> Result<(), Fault> {
    let (number, version): (i32, &str) = (server.try_get(0)?, server.try_get(1)?);
    if number < OLDEST {
        return Err(Fault::Unfit(format!(
            "this is PostgreSQL {version}, and the inbox needs 13 or newer: upgrade it"
        )));
    }
    for (column, setting) in [(2, "fsync"), (3, "full_page_writes")] {
        let is_on: bool = server.try_get(column)?;
        if !is_on {
            return Err(Fault::Unfit(format!(
                "{setting} is off in PostgreSQL, so that a power cut loses what was acknowledged: turn it on"
            )));
        }
    }
    let encoding: &str = server.try_get(4)?;
    if encoding != "UTF8" {
        return Err(Fault::Unfit(format!(
            "the database has the encoding {encoding}, which cannot hold every text: create one with ENCODING 'UTF8'"
        )));
    }
    let allows_no_writing: bool = server.try_get(5)?;
    if allows_no_writing { Err(Fault::ReadOnly) } else { Ok(()) }
}
