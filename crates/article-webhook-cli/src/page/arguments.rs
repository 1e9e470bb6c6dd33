use std::net::SocketAddr;

use clap::Args;
use tokio::net::TcpListener;

use super::server::{Reach, bind};
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
}

impl PageArguments {
    /// Listens for the browser. Says so where other machines can reach the page.
    pub(crate) async fn bind(&self, output: &Output) -> Result<TcpListener, Failure> {
        let reach = match self.page_allow_remote {
            true => Reach::Network,
            false => Reach::ThisMachine,
        };
        let listener = bind(self.page, reach).await?;
        if !self.page.ip().is_loopback() {
            output.note(
                "The page can be reached by other machines. It shows all articles, and its key travels without \
                 encryption.",
            );
        }
        Ok(listener)
    }
}
