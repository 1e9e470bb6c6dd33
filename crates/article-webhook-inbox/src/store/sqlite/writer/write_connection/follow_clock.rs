use rusqlite::Connection;

use super::{RENEW, WriteConnection, wal_recovery};
use crate::{
    ClockStep,
    store::sqlite::{connection::Access, fault::Fault},
    telemetry,
};

impl WriteConnection {
    /// Follows the system's clock if it was set. Deliveries do not wait for that: if it fails, it is tried again in a
    /// second. `false` if the connection had to be closed.
    pub(super) fn has_followed_clock(&mut self) -> bool {
        let step = self.watch.step().filter(|_| self.access == Access::Exclusive);
        let Some((step, connection)) = step.zip(self.connection.take_if(|_| step.is_some())) else {
            return true;
        };
        let Err(fault) = self.follow_clock(step, &connection) else {
            self.put(connection);
            return true;
        };
        let leaves_doubt = fault.leaves_doubt();
        telemetry::store_failed("clock", &fault.into());
        if leaves_doubt {
            self.doubt(connection);
        } else {
            self.put(connection);
        }
        !leaves_doubt
    }

    fn follow_clock(&mut self, step: ClockStep, connection: &Connection) -> Result<(), Fault> {
        connection.busy_timeout(RENEW)?;
        let tx = wal_recovery::begin(connection)?;
        self.number_wal(&tx)?;
        let moved = self.watch.move_entries(step, &tx, &self.findings)?;
        tx.commit()?;
        self.todo.number_wal = false;
        self.watch.follow(step, moved);
        Ok(())
    }
}
