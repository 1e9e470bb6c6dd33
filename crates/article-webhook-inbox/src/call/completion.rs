use std::borrow::Cow;

use crate::Error;

/// A SQL statement that completes an entry if its lease still holds.
///
/// Run it in a transaction of your own on the inbox's database, and [check](Self::check) how many rows it changed before you
/// commit. If that fails, the lease is lost: roll back.
///
/// ```
/// use article_webhook_inbox::Completion;
///
/// let sql = "UPDATE entries SET state = 'done' WHERE id = $1 AND fence = $2";
/// let completion = Completion::new(sql, [7, 1]);
/// assert_eq!((completion.sql(), completion.parameters()), (sql, &[7, 1][..]));
/// assert!(completion.check(1).is_ok());
/// assert_eq!(completion.check(0).unwrap_err().to_string(), "the lease is lost: roll back");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    sql: Cow<'static, str>,
    parameters: Vec<i64>,
}

impl Completion {
    /// A statement of a store. It changes one row if the lease holds, and none otherwise.
    #[doc(hidden)]
    #[must_use]
    pub fn new(sql: impl Into<Cow<'static, str>>, parameters: impl Into<Vec<i64>>) -> Self {
        Self { sql: sql.into(), parameters: parameters.into() }
    }

    /// The statement, with numbered parameters.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The values of the parameters, in their order. All are 64-bit integers.
    #[must_use]
    pub fn parameters(&self) -> &[i64] {
        &self.parameters
    }

    /// Takes the number of rows that the statement has changed, as the driver returns it.
    ///
    /// # Errors
    ///
    /// The statement changed no row: the lease is lost, and another worker has the right to the job.
    pub fn check(&self, changed_rows: impl TryInto<u64>) -> Result<(), Error> {
        match changed_rows.try_into() {
            Ok(1) => Ok(()),
            _ => Err(Error::unavailable("the lease is lost: roll back")),
        }
    }
}
