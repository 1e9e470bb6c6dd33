use tokio_postgres::Row;

use crate::fault::Fault;

/// The one row of a statement that always returns one.
pub(crate) fn first(rows: &[Row]) -> Result<&Row, Fault> {
    rows.first().ok_or(Fault::Vanished)
}
