use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use tokio::net::TcpListener;

use super::{access::Access, server::Listening};
use crate::{failure::Failure, output::Output};

/// Where the page is shown.
#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// The address of the page; port 0 is a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    page: SocketAddr,
    /// Show the page to other machines too, without encryption
    #[arg(long)]
    page_allow_remote: bool,
    /// Keep the page's key in this file, which is made if it is missing; with --page, the URL stays the same
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
