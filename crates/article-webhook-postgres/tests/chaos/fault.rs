//! The faults. Each says what it did, or returns nothing if it cannot be done here.

pub(crate) mod cut;
pub(crate) mod disk;
pub(crate) mod ends;
pub(crate) mod standby;

use std::sync::OnceLock;

use crate::server::Server;

/// A server for the faults that leave it as it was. It ends with this process.
fn shared() -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    SHARED.get_or_init(|| Server::start(&[])).as_ref()
}
