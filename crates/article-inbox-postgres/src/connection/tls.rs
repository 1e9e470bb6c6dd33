use article_inbox::Error;

/// How a connection may be encrypted.
#[derive(Clone)]
pub(super) enum Tls {
    /// It cannot.
    #[cfg_attr(feature = "tls", expect(dead_code, reason = "with the feature a connection can"))]
    None,
    /// By TLS, if the URL asks for it or the server offers it.
    #[cfg(feature = "tls")]
    Rustls(Box<tokio_postgres_rustls::MakeRustlsConnect>),
}

impl Tls {
    #[cfg(not(feature = "tls"))]
    pub(super) fn new() -> Result<Self, Error> {
        Ok(Self::None)
    }

    /// TLS that trusts the certificates of the system. `SSL_CERT_FILE` names others.
    #[cfg(feature = "tls")]
    pub(super) fn new() -> Result<Self, Error> {
        use std::sync::Arc;

        let mut roots = rustls::RootCertStore::empty();
        // Of the certificates of a system, some may be in a form that rustls does not know.
        let (_known, _unknown) =
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::unusable("TLS cannot be used").because(error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self::Rustls(Box::new(tokio_postgres_rustls::MakeRustlsConnect::new(config))))
    }
}
