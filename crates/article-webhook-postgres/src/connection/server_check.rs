use tokio_postgres::{Client, Row, error::SqlState};

use crate::{
    fault::Fault,
    objects::{self, Defects},
    settings::Purpose,
};

/// The oldest version that is supported, as the server counts.
const MIN_VERSION: i32 = 130_000;

/// What a server must be, in one statement.
pub(crate) const SERVER: &str = "SELECT pg_catalog.current_setting('server_version_num')::int, pg_catalog.current_setting('server_version'), \
    pg_catalog.current_setting('fsync'), pg_catalog.current_setting('full_page_writes'), \
    pg_catalog.current_setting('server_encoding'), pg_catalog.pg_is_in_recovery(), \
    pg_catalog.current_setting('default_transaction_read_only'), pg_catalog.current_schemas(true)::pg_catalog.text[]";

/// Checks the server of a connection, because a failover may lead to one that is set up differently; and the tables in this
/// schema, if they are there, because an administrator may have changed them.
pub(super) async fn check(client: &Client, schema: &str) -> Result<(), Fault> {
    // A pooler makes its own connection only now.
    let server = client.query_typed(SERVER, &[]).await.map_err(Fault::Connecting)?;
    check_row(server.first().ok_or(Fault::Vanished)?)?;
    let tables = match client.query_typed(&objects::check(schema, Purpose::Work), &[]).await {
        // The role has stricter time-outs, and the server was busy. The next check comes soon, and a start checks in a transaction.
        Err(error) if is_time_out(error.code()) => return Ok(()),
        tables => tables?,
    };
    match objects::defects(schema, &tables)? {
        Defects { loses: Some(defect), .. } => Err(Fault::Unsuitable(defect)),
        // What is missing fails the calls that need it, and no others.
        Defects { loses: None, .. } => Ok(()),
    }
}

fn is_time_out(code: Option<&SqlState>) -> bool {
    matches!(code, Some(&SqlState::QUERY_CANCELED | &SqlState::LOCK_NOT_AVAILABLE))
}

/// Refuses a server on which an acknowledged delivery could be lost, by what it says of itself.
pub(crate) fn check_row(server: &Row) -> Result<(), Fault> {
    let (number, version): (i32, &str) = (server.try_get(0)?, server.try_get(1)?);
    if number < MIN_VERSION {
        return Err(Fault::Unsuitable(format!(
            "this is PostgreSQL {version}, and the inbox needs 13 or newer: upgrade it"
        )));
    }
    for (column, setting) in [(2, "fsync"), (3, "full_page_writes")] {
        if server.try_get::<_, &str>(column)? != "on" {
            return Err(Fault::Unsuitable(format!(
                "{setting} is off in PostgreSQL, so that a power cut loses what was acknowledged: turn it on"
            )));
        }
    }
    let encoding: &str = server.try_get(4)?;
    if encoding != "UTF8" {
        return Err(Fault::Unsuitable(format!(
            "the database has the encoding {encoding}, which cannot hold every text: create one with ENCODING 'UTF8'"
        )));
    }
    let searched: Vec<&str> = server.try_get(7)?;
    if searched.into_iter().find(|schema| !schema.starts_with("pg_temp")) != Some("pg_catalog") {
        return Err(Fault::Unsuitable(
            "search_path names another schema before pg_catalog, whose functions would be called in place of PostgreSQL's: \
             leave pg_catalog out of search_path"
                .to_owned(),
        ));
    }
    let (is_standby, only_reads): (bool, &str) = (server.try_get(5)?, server.try_get(6)?);
    if is_standby || only_reads == "on" { Err(Fault::ReadOnly) } else { Ok(()) }
}
