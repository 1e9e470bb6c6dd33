use std::{ops::Deref, time::SystemTime};

use rusqlite::Connection;

use super::{
    Findings,
    findings::{Part, Unreadable},
};
use crate::{Error, store::sqlite::fault::Fault};

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

    pub(super) fn findings(&self) -> &'a Findings {
        self.findings
    }

    /// Whether indexes can be built again because this transaction fails.
    pub(in crate::store::sqlite) fn may_build_again(&self) -> bool {
        self.findings.may_build_again()
    }

    /// Whether SQLite failed to read it before.
    pub(in crate::store::sqlite) fn is_unreadable(&self, what: Unreadable) -> bool {
        self.findings.is_unreadable(what)
    }

    /// Remembers what SQLite failed to read. It refuses to write in this transaction from now on, so that the call
    /// fails, and runs again.
    pub(in crate::store::sqlite) fn learn(&self, what: Unreadable, fault: Fault) -> Fault {
        if fault.is_damage() {
            self.findings.learn(what);
        }
        fault
    }

    /// Tells damage that was found.
    pub(in crate::store::sqlite) fn found(&self, part: Part, finding: String) {
        self.findings.add(part, finding);
    }
}

/// An index led to a row that it does not describe. Indexes are built again, and the call runs again.
pub(in crate::store::sqlite) fn index_differs() -> Fault {
    let says = "an index differs from its table: start the receiver again, which builds it anew";
    Error::damaged(says).into()
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}
