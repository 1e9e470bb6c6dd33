use crate::store::sqlite::connection::Access;

/// What must be done before the next commit.
#[derive(Debug, Default)]
pub(super) struct PendingSteps {
    /// The log may hold commits that are not on disk.
    pub(super) renew_log: bool,
    /// The schema may not be made yet, and the leases of the last run are not freed.
    pub(super) start: bool,
    /// What SQLite's check found, for the start.
    pub(super) found: Vec<String>,
    /// The connection is new.
    pub(super) prepare: bool,
    /// The log may be begun anew by the next commit.
    pub(super) number_wal: bool,
}

impl PendingSteps {
    /// A database was just opened.
    pub(super) fn after_opening(access: Access) -> Self {
        let is_exclusive = access == Access::Exclusive;
        Self {
            renew_log: is_exclusive,
            start: is_exclusive,
            prepare: is_exclusive,
            ..Self::default()
        }
    }
}
