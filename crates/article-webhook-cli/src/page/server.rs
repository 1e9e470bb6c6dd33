use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use article_webhook_inbox::Inbox;
use article_webhook_server::Server;
use tokio::{net::TcpListener, sync::Semaphore};

use super::{
    access::Access,
    panel::Panel,
    route,
    shared::{Buttons, Shared},
    watch::Watch,
};
use crate::output::log::Refusals;

/// Pages that may be open at the same time and be told of changes.
const LISTENERS: usize = 64;

/// Connections of browsers: a few for each open page.
const CONNECTIONS: usize = 256;

/// Where `article-webhook listen` receives unless told otherwise.
const RECEIVER: &str = "http://127.0.0.1:3000/webhooks/articles";

/// A socket for the browser, and the secrets of the page.
pub(crate) struct Listening {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
    pub(super) access: Access,
}

/// The page of an inbox. It is served beside whatever works on the inbox, also in another process.
///
/// ```ignore
/// let page = Page::new(&inbox, "inbox.db", arguments.bind(&output).await?).panel(Arc::new(panel));
/// println!("{}", page.url());
/// page.serve(stop_signal()).await?;
/// ```
pub(crate) struct Page {
    inbox: Inbox,
    name: String,
    receiver: Option<String>,
    listening: Listening,
    buttons: Buttons,
    panel: Option<Arc<dyn Panel>>,
    refusals: Option<Refusals>,
}

impl Page {
    /// The page of an inbox. What names it is shown, and stands in the commands that the page shows.
    pub(crate) fn new(inbox: &Inbox, name: &str, listening: Listening) -> Self {
        Self {
            inbox: inbox.clone(),
            name: name.to_owned(),
            receiver: None,
            listening,
            buttons: Buttons::Shown,
            panel: None,
            refusals: None,
        }
    }

    /// This process receives deliveries at this URL.
    pub(crate) fn receiver(self, url: &str) -> Self {
        Self { receiver: Some(url.to_owned()), ..self }
    }

    /// What the receiver of this process refuses.
    pub(crate) fn refusals(self, refusals: Refusals) -> Self {
        Self { refusals: Some(refusals), ..self }
    }

    /// Shows no button and refuses every change.
    pub(crate) fn read_only(self) -> Self {
        Self { buttons: Buttons::Left, ..self }
    }

    /// Adds actions above the list.
    pub(crate) fn panel(self, panel: Arc<dyn Panel>) -> Self {
        Self { panel: Some(panel), ..self }
    }

    /// The URL that opens the page, with its key: a secret, for the terminal of the person who started it.
    pub(crate) fn url(&self) -> String {
        self.listening.access.url(self.listening.address)
    }

    /// Serves the page until `stop` resolves. The inbox stays open.
    pub(crate) async fn serve(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Self { inbox, name, receiver, listening, buttons, panel, refusals } = self;
        let Listening { listener, access, .. } = listening;
        let watch = Watch::new(inbox.clone(), panel.clone(), refusals.clone());
        // Dropped when serving ends.
        let watching = watch.clone();
        let shared = Shared {
            inbox,
            name,
            has_receiver: receiver.is_some(),
            receiver: receiver.unwrap_or_else(|| RECEIVER.to_owned()),
            access,
            buttons,
            panel,
            refusals,
            watch,
            listeners: Arc::new(Semaphore::new(LISTENERS)),
        };
        let server = Server::builder()
            .max_connections(CONNECTIONS)
            .shutdown_grace(Duration::from_secs(1))
            .build(listener)?;
        let ended = watching.clone();
        let stop = async move {
            stop.await;
            ended.end();
        };
        tokio::select! {
            served = server.serve(route::router(Arc::new(shared)), stop) => served,
            never = watching.run() => match never {},
        }
    }
}
