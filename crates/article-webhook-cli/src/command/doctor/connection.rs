use std::{
    error::Error,
    io::{self, ErrorKind},
    iter::successors,
};

use rustls::CertificateError;

use super::{
    finding::Finding,
    probe::{NoAnswer, PATIENCE},
};
use crate::{calls::NOT_REACHED, text::moment};

type Cause = dyn Error + 'static;

/// Why a receiver gave no answer.
pub(super) fn finding(why: NoAnswer) -> Finding {
    let error = match why {
        NoAnswer::Setup(failure) => {
            let finding = Finding::fail("receiver.not_asked", failure.text());
            return finding.fix(failure.fix_text());
        }
        NoAnswer::Http(error) => error,
    };
    let causes: Vec<&Cause> = successors(Some(&error as &Cause), |&cause| next(cause)).collect();
    let last = causes.last().map(ToString::to_string).unwrap_or_default();
    if let Some(tls) = causes.iter().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        return of_tls(tls).because(last);
    }
    let is_refused = causes.iter().any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == ErrorKind::ConnectionRefused)
    });
    if is_refused {
        return Finding::fail("receiver.refused", "nothing listens at the receiver's port")
            .because(last)
            .fix(NOT_REACHED);
    }
    if error.is_timeout() {
        return match error.is_connect() {
            true => Finding::fail("receiver.no_connection", "no connection is made in time")
                .because("a firewall drops what is sent to this host and port")
                .fix("let the service connect to the port, or check host and port of the URL"),
            false => Finding::fail(
                "receiver.timeout",
                format!("no answer within {}", moment::span(PATIENCE)),
            )
            .because("the service does not wait for ever, and delivers three times more at most")
            .fix("look whether the process hangs, and whether a proxy waits for it"),
        };
    }
    Finding::fail("receiver.broken", "the connection ended before an answer")
        .because(last)
        .fix("check that the port speaks HTTP, and look into the log of the receiver and of the proxy before it")
}

/// The cause of an error. An I/O error hides the one that it was made of.
fn next(error: &Cause) -> Option<&Cause> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn of_tls(error: &rustls::Error) -> Finding {
    use CertificateError as Is;

    let rustls::Error::InvalidCertificate(certificate) = error else {
        return Finding::fail("receiver.tls_failed", "TLS cannot be agreed on").fix(
            "check that the port serves TLS 1.2 or 1.3, and that the URL should begin with https",
        );
    };
    match certificate {
        Is::Expired | Is::ExpiredContext { .. } => {
            Finding::fail("receiver.certificate_expired", "the certificate has expired").fix(
                "renew it, and have the web server load the new one; check this machine's clock",
            )
        }
        Is::NotValidYet | Is::NotValidYetContext { .. } => {
            Finding::fail("receiver.certificate_not_yet_valid", "the certificate is not valid yet")
                .fix("check the clocks of this machine and of the one that issued it")
        }
        Is::NotValidForName | Is::NotValidForNameContext { .. } => {
            Finding::fail("receiver.certificate_wrong_name", "the certificate is for another host")
                .fix("use the host name that the certificate has, or issue one for this name")
        }
        // What signed itself is its own unknown issuer.
        _ => Finding::fail(
            "receiver.certificate_unknown_issuer",
            "the certificate is not trusted here",
        )
        .fix(
            "use a certificate of a public authority, with all \
                 intermediate certificates; the service refuses one that signed itself as well",
        ),
    }
}
