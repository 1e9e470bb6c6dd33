#[cfg(feature = "tls")]
use std::sync::Arc;

use article_webhook_inbox::Error;
#[cfg(feature = "tls")]
use rustls::{RootCertStore, crypto::CryptoProvider};
use tokio_postgres::config::SslMode;

use super::{hosts::Hosts, plaintext::WithoutTls};
use crate::settings::PostgresSettings;

/// How a connection may be encrypted.
#[derive(Clone)]
pub(super) enum Tls {
    /// It cannot.
    None(WithoutTls),
    /// By TLS, where a host needs it or offers it.
    #[cfg(feature = "tls")]
    Rustls(Box<tokio_postgres_rustls::MakeRustlsConnect>),
}

impl Tls {
    /// TLS, unless the settings exclude it or no host needs it and there is none.
    pub(super) fn new(settings: &PostgresSettings, hosts: &Hosts) -> Result<Self, Error> {
        let config = &settings.config;
        if config.get_ssl_mode() == SslMode::Disable || !has_tls() && !hosts.need_tls() {
            let password = config.get_password().map(<[u8]>::to_vec);
            return Ok(Self::None(WithoutTls { password }));
        }
        Self::with_tls(settings)
    }

    #[cfg(not(feature = "tls"))]
    fn with_tls(_: &PostgresSettings) -> Result<Self, Error> {
        Err(Error::invalid(
            "the database is on another machine, or its URL asks for TLS, and TLS is not built in: turn on the feature `tls-aws-lc` \
             of article-webhook-postgres; or write sslmode=disable in the URL, and whoever can read the network reads every article",
        ))
    }

    /// TLS that trusts the certificates that the URL names, or else those of the system.
    #[cfg(feature = "tls")]
    fn with_tls(settings: &PostgresSettings) -> Result<Self, Error> {
        let roots = match &settings.roots {
            Some(file) => named(file)?,
            None => of_the_system(),
        };
        let config = rustls::ClientConfig::builder_with_provider(provider()?)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::unusable("TLS cannot be used").because(error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self::Rustls(Box::new(tokio_postgres_rustls::MakeRustlsConnect::new(config))))
    }
}

/// The cryptography provider that the application has installed, or else that of the feature `tls-aws-lc`.
#[cfg(feature = "tls")]
fn provider() -> Result<Arc<CryptoProvider>, Error> {
    if let Some(installed) = CryptoProvider::get_default() {
        return Ok(Arc::clone(installed));
    }
    #[cfg(feature = "tls-aws-lc")]
    return Ok(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    #[cfg(not(feature = "tls-aws-lc"))]
    Err(Error::invalid(
        "TLS has no cryptography provider: turn on the feature `tls-aws-lc` of article-webhook-postgres; or install the \
         application's provider before it connects, such as rustls::crypto::ring::default_provider().install_default()",
    ))
}

/// Whether connections by TLS can be made.
pub(super) fn has_tls() -> bool {
    #[cfg(feature = "tls")]
    return provider().is_ok();
    #[cfg(not(feature = "tls"))]
    false
}

/// The certificates of the system. `SSL_CERT_FILE` names others.
#[cfg(feature = "tls")]
fn of_the_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // Some of them may be in a form that rustls does not know.
    let (_known, _unknown) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

/// The certificates in a file.
#[cfg(feature = "tls")]
fn named(file: &std::path::Path) -> Result<RootCertStore, Error> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};

    let unusable = |cause: String| {
        let file = file.display();
        let message =
            format!("the certificates in {file} cannot be used: correct sslrootcert in the URL");
        Error::unusable(message).because(cause)
    };
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(file).map_err(|error| unusable(error.to_string()))?;
    for certificate in found {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("there are none".into()));
    }
    Ok(roots)
}

#[cfg(all(test, not(feature = "tls")))]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_needs_tls_is_refused_where_it_is_not_built_in() {
        let new = |host: &str, query: &str| {
            let url = format!("postgresql://blog:canary@{host}/blog{query}");
            let settings = PostgresSettings::new(&url).unwrap();
            Tls::new(&settings, &Hosts::of(&settings.config))
        };
        for (host, query) in [
            ("db.example", ""),
            ("db.example", "?sslmode=prefer"),
            ("db.example", "?sslmode=verify-full"),
            ("localhost", "?sslmode=require"),
            ("localhost,db.example", ""),
        ] {
            let error = new(host, query).err().unwrap();
            assert!(error.is_invalid(), "{error}");
            let error = error.to_string();
            assert!(error.contains("turn on the feature `tls-aws-lc`"), "{error}");
            assert!(error.contains("write sslmode=disable"), "{error}");
        }
        assert!(new("db.example", "?sslmode=disable").is_ok());
        assert!(new("localhost", "").is_ok());
    }
}
