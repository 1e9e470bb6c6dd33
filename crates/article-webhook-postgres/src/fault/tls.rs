use std::{error::Error as _, io};

use rustls::CertificateError;

/// Why TLS with the server fails, if that is why no connection could be made.
pub(super) fn tls_failure(error: &tokio_postgres::Error) -> Option<&'static str> {
    let cause = error.source()?;
    if cause.to_string() == "server does not support TLS" {
        return Some(
            "PostgreSQL offers no TLS, and is on another machine or the URL asks for TLS: set ssl = on in its settings; or write \
             sslmode=disable in the URL, and whoever can read the network reads every article",
        );
    }
    let error = cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return Some("TLS with PostgreSQL fails: look at ssl in its settings");
    };
    Some(match wrong {
        // An authority may have the name of one that is trusted.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the certificate of PostgreSQL is of no authority that is trusted: name the authority's certificate as \
             sslrootcert in the URL"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate of PostgreSQL is for another host than that of the URL: correct the host, or the certificate"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate of PostgreSQL has expired: renew it"
        }
        _ => "the certificate of PostgreSQL is not valid: replace it",
    })
}
