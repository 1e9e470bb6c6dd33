use std::sync::Arc;

use tokio::sync::Notify;

use crate::{
    application::{Application, Work},
    connection::PATIENCE,
    ledger::{Entry, Ledger},
    request::delivery,
    site::{Site, Style},
    targets::server::{Framework, Mount, Server},
};

/// A sink that begins its work, and ends it when it is told to.
pub(crate) struct Patient {
    pub(crate) mount: Mount,
    pub(crate) ledger: Ledger,
    pub(crate) end: Arc<Notify>,
}

impl Patient {
    pub(crate) fn new() -> Self {
        let ledger = Ledger::default();
        let end = Arc::new(Notify::new());
        let work = Work::Waits(Arc::clone(&end));
        let mount = Mount {
            application: Application::new(&ledger, work),
            ..Mount::of(Site::Default, &ledger)
        };
        Self { mount, ledger, end }
    }

    /// Whether the sink's work comes to its end though its sender is gone.
    pub(crate) fn finishes_alone(&self, server: &Server) -> bool {
        let path = Site::Default.path(Style::Receive);
        let mut connection = server.connect();
        connection.send(delivery().wire(&path));
        let begun = self.ledger.take_when(1, PATIENCE);
        assert!(matches!(begun[..], [Entry::Accepted(_)]), "{begun:?}");
        drop(connection);
        // Servers have one thread here: once it has answered a later connection, it has seen the
        // end of the earlier one.
        let mut later = server.connect();
        later.send(delivery().without("Authorization").wire(&path));
        assert_eq!(later.response().map(|answer| answer.status), Ok(401));
        self.end.notify_one();
        self.ledger.take_when(1, server.patience) == [Entry::Finished]
    }
}

#[test]
fn a_sender_that_hangs_up_does_not_cut_the_sinks_work_in_half() {
    for framework in Framework::BOTH {
        let patient = Patient::new();
        let server = framework.serve(vec![patient.mount.clone()], patient.ledger.clone());
        assert!(patient.finishes_alone(&server), "{framework:?}");
    }
}
