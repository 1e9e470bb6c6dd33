use std::{fs, io::Write, net::TcpStream, path::PathBuf, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

use super::{Found, doctor, found};
use crate::{
    server::{read, refusal, serve_connections},
    tool::text,
};

/// An authority that the tool trusts.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("authority.pem");
        fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, _folder: folder, file }
    }

    /// What is found about a receiver with a certificate.
    pub(super) fn found(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Found {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = match params.is_ca {
            // It signs itself.
            IsCa::ExplicitNoCa => params.self_signed(&key),
            _ => params.signed_by(&key, &self.issuer),
        };
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(
            rustls::crypto::aws_lc_rs::default_provider().into(),
        )
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.unwrap().der().clone()], key);
        let config = Arc::new(config.unwrap());
        let address =
            serve_connections("127.0.0.1", move |stream| serve(Arc::clone(&config), stream));
        let url = format!("https://localhost:{}/", address.port());
        found(doctor(&["--url", &url]).env("SSL_CERT_FILE", text(&self.file)))
    }
}

fn serve(config: Arc<ServerConfig>, stream: TcpStream) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    if read(&mut stream).is_some() {
        let _ = stream.write_all(refusal("401 Unauthorized", "unauthorized").as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }
}

#[test]
fn a_certificate_that_the_service_would_not_accept_is_found_with_the_reason() {
    let authority = Authority::new();
    let sound = authority.found("localhost", |_| {});
    sound.has("receiver.tls", "ok");
    sound.has("receiver.refuses_wrong_token", "ok");
    for (found, code, fix) in [
        (
            authority.found("localhost", |params| params.not_after = date_time_ymd(2020, 1, 1)),
            "expired",
            "renew it, and have the web server load the new one; check this machine's clock",
        ),
        (
            authority.found("localhost", |params| params.not_before = date_time_ymd(2900, 1, 1)),
            "not_yet_valid",
            "check the clocks of this machine and of the one that issued it",
        ),
        (
            authority.found("receiver.example", |_| {}),
            "wrong_name",
            "use the host name that the certificate has, or issue one for this name",
        ),
        (
            authority.found("localhost", |params| params.is_ca = IsCa::ExplicitNoCa),
            "unknown_issuer",
            "use a certificate of a public authority, with all intermediate certificates; the service refuses one that signed itself as \
             well",
        ),
    ] {
        found.is_cured(&format!("receiver.certificate_{code}"), "fail", fix, &sound);
    }
}

#[test]
fn a_port_without_tls_is_found() {
    let address = serve_connections("127.0.0.1", |mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let url = format!("https://{address}/");
    found(&mut doctor(&["--url", &url])).is_cured(
        "receiver.tls_failed",
        "fail",
        "check that the port serves TLS 1.2 or 1.3, and that the URL should begin with https",
        &Authority::new().found("localhost", |_| {}),
    );
}
