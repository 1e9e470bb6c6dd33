use std::{io, net::SocketAddr, time::Duration};

use article_webhook::AuthToken;
use http::HeaderName;
use tokio::net::lookup_host;
use url::{Host, Url};

use crate::CheckError;

/// The receiver under test: its address, and the settings of its publish target.
#[derive(Clone)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) event_header: String,
    pub(crate) job_id_header: String,
    /// How long a response may take.
    pub(crate) response_timeout: Duration,
    /// Set when the host name was resolved.
    pub(crate) address: SocketAddr,
}

impl Endpoint {
    pub(crate) fn new(url: &str, token: &str) -> Result<Self, CheckError> {
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
            response_timeout: Duration::from_secs(5),
            address: SocketAddr::from(([127, 0, 0, 1], port)),
        })
    }

    pub(crate) fn is_loopback(&self) -> bool {
        match Host::parse(&self.host) {
            Ok(Host::Domain(name)) => name == "localhost",
            Ok(Host::Ipv4(address)) => address.is_loopback(),
            Ok(Host::Ipv6(address)) => address.is_loopback(),
            Err(_) => false,
        }
    }

    /// Without the path, which may be a secret.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.authority())
    }

    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The token's scheme word with the following space, if there is one, and the rest.
    pub(crate) fn scheme_and_secret(&self) -> (&str, &str) {
        let secret = self.token.split_once(' ').map_or(&*self.token, |(_, rest)| rest.trim_start());
        self.token.split_at(self.token.len() - secret.len())
    }

    pub(crate) fn secret(&self) -> &str {
        self.scheme_and_secret().1
    }

    /// The addresses of the host, in the order in which they are tried.
    pub(crate) async fn addresses(&self) -> Result<Vec<SocketAddr>, CheckError> {
        let addresses = lookup_host(self.authority()).await.map_err(CheckError::NoAddress)?;
        // A resolver may map `localhost` to another machine, and the token must not go there.
        let is_local = self.is_loopback();
        let addresses: Vec<_> =
            addresses.filter(|address| !is_local || address.ip().is_loopback()).collect();
        if addresses.is_empty() {
            return Err(CheckError::NoAddress(io::ErrorKind::NotFound.into()));
        }
        Ok(addresses)
    }
}

/// A valid header name, in the case it was given.
pub(crate) fn header_name(name: &str) -> Result<String, CheckError> {
    match HeaderName::try_from(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err(CheckError::HeaderName(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

    #[test]
    fn the_loopback_is_recognised_by_name_and_address() {
        for (host, is_loopback) in [
            ("localhost", true),
            ("127.0.0.1", true),
            ("[::1]", true),
            ("10.0.0.1", false),
            ("receiver.example", false),
        ] {
            let endpoint = Endpoint::new(&format!("http://{host}:3000/"), TOKEN).unwrap();
            assert_eq!(endpoint.is_loopback(), is_loopback, "{host}");
        }
    }
}
