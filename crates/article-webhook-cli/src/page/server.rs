use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use article_webhook_inbox::Inbox;
use article_webhook_server::Server;
use clap::Args;
use tokio::{net::TcpListener, sync::Semaphore};

use super::{access::Access, panel::Panel, route, shared::Shared, watch::Watch};
use crate::{
    failure::Failure,
    output::{Output, log::Refusals},
};

/// Open pages that get changes at the same time, at most.
const LISTENERS: usize = 64;

/// Connections of browsers: a few for each open page.
const CONNECTIONS: usize = 256;

/// Where `article-webhook listen` receives by default.
const RECEIVER: &str = "http://127.0.0.1:3000/webhooks/articles";

/// Where the page is shown.
#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// The address of the page; port 0 is a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    page: SocketAddr,
    /// Show the page to other machines too, without encryption
    #[arg(long)]
    page_allow_remote: bool,
    /// Keep the page's key in this file, which is created if it is missing; with --page, the URL stays the same
    #[arg(long, value_name = "FILE")]
    page_key_file: Option<PathBuf>,
}

impl PageArguments {
    /// Listens for the browser. Says so where other machines can reach the page.
    pub(crate) async fn bind(&self, output: &Output) -> Result<Listening, Failure> {
        let address = self.page;
        if !address.ip().is_loopback() {
            if !self.page_allow_remote {
                return Err(Failure::usage(format!(
                    "{address} can be reached by other machines, and the page shows all articles, without encryption"
                ))
                .fix("use 127.0.0.1 and a tunnel such as ssh -L, or say --page-allow-remote"));
            }
            output.note(
                "The page can be reached by other machines. It shows all articles, and its key travels without \
                 encryption.",
            );
        }
        let access =
            self.page_key_file.as_deref().map_or_else(|| Ok(Access::new()), Access::of_file)?;
        let bound = TcpListener::bind(address).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = bound.map_err(|error| {
            Failure::failed(format!("cannot show the page on {address}"))
                .because(&error)
                .fix("end the program that has the port, or choose another with --page")
        })?;
        Ok(Listening { listener, address, access })
    }
}

/// A socket for the browser, and the secrets of the page.
pub(crate) struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    access: Access,
}

/// The page of an inbox. It is served beside whatever works on the inbox, also in another process.
///
/// ```ignore
/// let page = Page::new(&inbox, "inbox.db", arguments.bind(&output).await?).panel(Arc::new(panel));
/// println!("{}", page.url());
/// page.serve(stop_signal()).await?;
/// ```
pub(crate) struct Page {
    listener: TcpListener,
    address: SocketAddr,
    shared: Shared,
}

impl Page {
    /// The page of an inbox. What names it is shown, and stands in the commands that the page shows.
    pub(crate) fn new(inbox: &Inbox, name: &str, listening: Listening) -> Self {
        let Listening { listener, address, access } = listening;
        let shared = Shared {
            inbox: inbox.clone(),
            name: name.to_owned(),
            receiver: RECEIVER.to_owned(),
            has_receiver: false,
            access,
            is_read_only: false,
            panel: None,
            refusals: None,
            watch: Watch::new(inbox),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
        };
        Self { listener, address, shared }
    }

    /// This process receives deliveries at this URL.
    pub(crate) fn receiver(mut self, url: &str) -> Self {
        (self.shared.receiver, self.shared.has_receiver) = (url.to_owned(), true);
        self
    }

    /// What the receiver of this process refuses.
    pub(crate) fn refusals(mut self, refusals: Refusals) -> Self {
        self.shared.refusals = Some(refusals);
        self
    }

    /// Shows no button and refuses every change.
    pub(crate) fn read_only(mut self) -> Self {
        self.shared.is_read_only = true;
        self
    }

    /// Adds actions above the list.
    pub(crate) fn panel(mut self, panel: Arc<dyn Panel>) -> Self {
        self.shared.panel = Some(panel);
        self
    }

    /// The URL that opens the page, with its key: a secret, for the terminal of the person who started it.
    pub(crate) fn url(&self) -> String {
        self.shared.access.url(self.address)
    }

    /// Serves the page until `stop` resolves. The inbox stays open.
    pub(crate) async fn serve(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Self { listener, shared, .. } = self;
        let server = Server::builder()
            .max_connections(CONNECTIONS)
            .shutdown_grace(Duration::from_secs(1))
            .build(listener)?;
        let watch = shared.watch.clone();
        let watching = watch.clone().run(shared.panel.clone(), shared.refusals.clone());
        let stop = async move {
            stop.await;
            watch.end();
        };
        tokio::select! {
            served = server.serve(route::router(Arc::new(shared)), stop) => served,
            never = watching => match never {},
        }
    }
}
