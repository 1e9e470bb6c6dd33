use article_webhook_inbox::Error;
#[cfg(feature = "tls")]
use rustls::RootCertStore;

use crate::settings::PostgresSettings;

/// How a connection may be encrypted.
#[derive(Clone)]
pub(super) enum Tls {
    /// It cannot.
    None,
    /// By TLS, if the URL asks for it or the server offers it.
    #[cfg(feature = "tls")]
    Rustls(Box<tokio_postgres_rustls::MakeRustlsConnect>),
}

impl Tls {
    #[cfg(not(feature = "tls"))]
    pub(super) fn new(_: &PostgresSettings) -> Result<Self, Error> {
        Ok(Self::None)
    }

    /// TLS that trusts the certificates that the URL names, or else those of the system.
    #[cfg(feature = "tls")]
    pub(super) fn new(settings: &PostgresSettings) -> Result<Self, Error> {
        use std::sync::Arc;

        if settings.config.get_ssl_mode() == tokio_postgres::config::SslMode::Disable {
            return Ok(Self::None);
        }
        let roots = match &settings.roots {
            Some(file) => named(file)?,
            None => of_the_system(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::unusable("TLS cannot be used").because(error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self::Rustls(Box::new(tokio_postgres_rustls::MakeRustlsConnect::new(config))))
    }
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
