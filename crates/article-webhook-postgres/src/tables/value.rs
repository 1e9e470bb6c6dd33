use tokio_postgres::{Row, types::FromSql};

/// The value of a column. `None` if it is NULL, or cannot be read.
pub(super) fn value<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Option<T> {
    row.try_get(column).ok()
}

pub(super) fn number(row: &Row, column: usize) -> i64 {
    value(row, column).unwrap_or_default()
}

pub(super) fn text(row: &Row, column: usize) -> &str {
    value(row, column).unwrap_or_default()
}
