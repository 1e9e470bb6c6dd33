use std::{ops::Deref, time::SystemTime};

use rusqlite::Connection;

use super::{Findings, findings::Part};

/// A transaction or a snapshot, its time, and where damage that is found in it is told.
pub(in crate::store::sqlite) struct Tx<'a> {
    connection: &'a Connection,
    findings: &'a Findings,
    now: SystemTime,
}

impl<'a> Tx<'a> {
    pub(in crate::store::sqlite) fn new(
        connection: &'a Connection,
        findings: &'a Findings,
        now: SystemTime,
    ) -> Self {
        Self { connection, findings, now }
    }

    pub(in crate::store::sqlite) fn now(&self) -> SystemTime {
        self.now
    }

    /// Tells damage that was found.
    pub(in crate::store::sqlite) fn found(&self, part: Part, finding: String) {
        self.findings.add(part, finding);
    }
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}
