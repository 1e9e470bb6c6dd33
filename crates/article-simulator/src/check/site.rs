use std::{io, net::SocketAddr, time::Duration};

use article_webhook::AuthToken;
use http::HeaderName;
use tokio::net::lookup_host;
use url::{Host, Url};

use super::CheckError;

/// Where the receiver is, and what the service was told about it.
#[derive(Clone)]
pub(super) struct Site {
    host: String,
    port: u16,
    pub(super) path: String,
    pub(super) token: String,
    pub(super) event_header: String,
    pub(super) job_id_header: String,
    /// How long an answer may take.
    pub(super) patience: Duration,
    /// Known once the host is looked up.
    pub(super) address: SocketAddr,
}

impl Site {
    pub(super) fn new(url: &str, token: &str) -> Result<Self, CheckError> {
        AuthToken::new(token)?;
        let url = Url::parse(url).map_err(|_| CheckError::Url)?;
        let (Some(host), Some(port), "http") =
            (url.host_str(), url.port_or_known_default(), url.scheme())
        else {
            return Err(CheckError::Url);
        };
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self {
            host: host.to_owned(),
            port,
            path: [url.path(), &query].concat(),
            token: token.to_owned(),
            event_header: "X-Service-Event".to_owned(),
            job_id_header: "X-Service-Job-Id".to_owned(),
            patience: Duration::from_secs(5),
            address: SocketAddr::from(([127, 0, 0, 1], port)),
        })
    }

    pub(super) fn is_loopback(&self) -> bool {
        match Host::parse(&self.host) {
            Ok(Host::Domain(name)) => name == "localhost",
            Ok(Host::Ipv4(address)) => address.is_loopback(),
            Ok(Host::Ipv6(address)) => address.is_loopback(),
            Err(_) => false,
        }
    }

    /// The path is left out, for it may be a secret.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.authority())
    }

    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The token's scheme word with the space behind it, if it has one, and the rest.
    pub(super) fn scheme_and_secret(&self) -> (&str, &str) {
        let secret = self.token.split_once(' ').map_or(&*self.token, |(_, rest)| rest.trim_start());
        self.token.split_at(self.token.len() - secret.len())
    }

    pub(super) fn secret(&self) -> &str {
        self.scheme_and_secret().1
    }

    /// The addresses to try, in turn.
    pub(super) async fn addresses(&self) -> Result<Vec<SocketAddr>, CheckError> {
        let addresses = lookup_host(self.authority()).await.map_err(CheckError::NoAddress)?;
        // Whatever a resolver says, this machine is this machine.
        let is_local = self.is_loopback();
        let addresses: Vec<_> =
            addresses.filter(|address| !is_local || address.ip().is_loopback()).collect();
        if addresses.is_empty() {
            return Err(CheckError::NoAddress(io::ErrorKind::NotFound.into()));
        }
        Ok(addresses)
    }
}

pub(super) fn header_name(name: &str) -> Result<String, CheckError> {
    match HeaderName::try_from(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err(CheckError::HeaderName(name.to_owned())),
    }
}
