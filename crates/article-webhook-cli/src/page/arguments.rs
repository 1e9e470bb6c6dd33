use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{
    access::Access,
    server::{Listening, Reach},
};
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
        let reach = match self.page_allow_remote {
            true => Reach::Network,
            false => Reach::ThisMachine,
        };
        let access = match &self.page_key_file {
            Some(file) => Access::of_file(file)?,
            None => Access::new(),
        };
        let listening = Listening::bind(self.page, reach, access).await?;
        if !self.page.ip().is_loopback() {
            output.note(
                "The page can be reached by other machines. It shows all articles, and its key travels without \
                 encryption.",
            );
        }
        Ok(listening)
    }
}
