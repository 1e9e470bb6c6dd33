use std::sync::Arc;

use article_webhook::Reply;
use tokio::sync::Notify;

use crate::{
    application::{Application, Work},
    call_log::{Entry, Ledger},
    connection::CLIENT_TIMEOUT,
    request::delivery,
    site::{Site, Style},
    targets::server::{Framework, Mount, Server},
};

/// A sink that begins its work, and ends it when `end` is notified.
pub(crate) struct WaitingSink {
    pub(crate) mount: Mount,
    pub(crate) ledger: Ledger,
    pub(crate) end: Arc<Notify>,
}

impl WaitingSink {
    pub(crate) fn new(reply: Reply) -> Self {
        let ledger = Ledger::default();
        let end = Arc::new(Notify::new());
        let work = Work::Waits(Arc::clone(&end), reply);
        let mount = Mount {
            application: Application::new(&ledger, work),
            ..Mount::of(Site::Default, &ledger)
        };
        Self { mount, ledger, end }
    }

    /// Whether the application's work comes to its end though its sender is gone.
    pub(crate) fn finishes_alone(&self, server: &Server, style: Style, farewell: Farewell) -> bool {
        let path = Site::Default.path(style);
        let mut connection = server.connect();
        match farewell {
            Farewell::Close => connection.send(delivery().wire(&path)),
            Farewell::Reset => {
                let announced = delivery().with("Expect", "100-continue");
                connection.send(announced.wire(&path));
                connection.leave_unread();
            }
        }
        let begun = self.ledger.take_when(1, CLIENT_TIMEOUT);
        assert!(matches!(begun[..], [Entry::Accepted(_) | Entry::Handled { .. }]), "{begun:?}");
        drop(connection);
        // Servers have one thread here: once it has answered a later connection, it has seen the
        // end of the earlier one.
        let mut later = server.connect();
        later.send(delivery().without("Authorization").wire(&path));
        assert_eq!(later.response().map(|answer| answer.status), Ok(401));
        self.end.notify_one();
        self.ledger.take_when(1, CLIENT_TIMEOUT) == [Entry::Finished]
    }
}

/// How a sender hangs up: hyper gives up a request for either, actix-web for a reset.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Farewell {
    Close,
    Reset,
}

#[test]
fn a_sender_that_hangs_up_does_not_cut_the_sinks_work_in_half() {
    for framework in Framework::ALL {
        for farewell in [Farewell::Close, Farewell::Reset] {
            let sink = WaitingSink::new(Reply::Stored);
            let server = framework.serve(vec![sink.mount.clone()], sink.ledger.clone());
            let finishes = sink.finishes_alone(&server, Style::Receive, farewell);
            assert!(finishes, "{framework:?}, {farewell:?}");
        }
    }
}
