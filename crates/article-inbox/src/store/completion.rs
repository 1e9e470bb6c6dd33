/// One SQL statement that completes an entry if its lease still holds. Run it inside a transaction of your own
/// on the same database: when it changes no row, the lease is lost, and you roll back.
///
/// ```
/// use article_inbox::{Clock, Completion, MemoryStore, Store, store::Lease};
///
/// let completion = Completion::new("UPDATE entries SET state = 'done' WHERE id = $1 AND fence = $2", [7, 1]);
/// assert_eq!(completion.parameters(), [7, 1]);
/// assert!(MemoryStore::new(Clock::system()).completion(Lease { id: 7, fence: 1 }).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    sql: &'static str,
    parameters: Vec<i64>,
}

impl Completion {
    /// For a store of your own: a statement that changes one row if the lease holds, and none if it does not.
    ///
    /// ```
    /// use article_inbox::Completion;
    ///
    /// let completion = Completion::new("UPDATE entries SET state = 'done' WHERE id = $1 AND fence = $2", [7, 1]);
    /// assert_eq!(completion.parameters(), [7, 1]);
    /// ```
    #[must_use]
    pub fn new(sql: &'static str, parameters: impl Into<Vec<i64>>) -> Self {
        Self { sql, parameters: parameters.into() }
    }

    /// The statement, with numbered parameters.
    ///
    /// ```
    /// let completion = article_inbox::Completion::new("UPDATE …", []);
    /// assert_eq!(completion.sql(), "UPDATE …");
    /// ```
    #[must_use]
    pub fn sql(&self) -> &'static str {
        self.sql
    }

    /// Its parameters, in their order: 64-bit integers all of them.
    ///
    /// ```
    /// assert_eq!(article_inbox::Completion::new("UPDATE …", [1]).parameters(), [1]);
    /// ```
    #[must_use]
    pub fn parameters(&self) -> &[i64] {
        &self.parameters
    }
}
