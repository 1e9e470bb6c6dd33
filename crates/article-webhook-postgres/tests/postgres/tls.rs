//! Connections by TLS: which certificates are accepted, and which error the others give.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use article_webhook_inbox::{Error, store::Store};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::{
    refusals,
    scene::{self, wait},
    server::{Server, User},
};

/// A server with a certificate of an authority.
struct Scene {
    server: Server,
    folder: TempDir,
    authority: PathBuf,
}

impl Scene {
    fn start(change: impl FnOnce(&mut CertificateParams)) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let authority = folder.path().join("authority.pem");
        let issuer = authority_in(&authority);
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let own = |name: &str, text: String| {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            User::unprivileged().own(&file);
            format!("ssl_{name}_file = '{}'", file.display())
        };
        let settings = [
            "ssl = on".to_owned(),
            own("cert", certificate.pem()),
            own("key", key.serialize_pem()),
        ];
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let server = Server::start(&settings.each_ref().map(String::as_str))?;
        Some(Self { server, folder, authority })
    }

    /// What a start says, by the name that the certificate is for.
    fn connect(&self, query: &str) -> Result<PostgresStore, Error> {
        let url = self.server.url().replace("127.0.0.1", "localhost");
        let settings = PostgresSettings::new(&format!("{url}?{query}")).unwrap();
        wait(PostgresStore::connect(settings.schema(&scene::fresh_schema()).unwrap()))
    }

    /// The query of a URL that trusts the authority.
    fn trusting(&self) -> String {
        format!("sslmode=verify-full&sslrootcert={}", self.authority.display())
    }

    /// Whether a connection of an application is encrypted.
    fn is_encrypted(&self, query: &str) -> bool {
        let url = self.server.url().replace("127.0.0.1", "localhost");
        let settings = PostgresSettings::new(&format!("{url}?{query}")).unwrap();
        wait(async move {
            let client = settings.client().await.unwrap();
            let own = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
            client.query_one(own, &[]).await.unwrap().get(0)
        })
    }

    fn is_refused(&self, query: &str, with: &str) {
        let error = self.connect(query).unwrap_err();
        assert!(error.to_string().contains(with), "{error:?}");
    }
}

/// An authority with its certificate in a file.
fn authority_in(file: &Path) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    fs::write(file, issuer.pem()).unwrap();
    issuer
}

#[test]
fn a_certificate_is_accepted_of_a_trusted_authority_alone() {
    let Some(scene) = Scene::start(|_| {}) else { return };
    let store = scene.connect(&scene.trusting()).unwrap();
    wait(async move {
        assert_eq!(store.counts().await.unwrap().total(), 0);
        store.close().await.unwrap();
    });

    let unknown = "the certificate of PostgreSQL is of no authority that is trusted: name the authority's certificate as sslrootcert in the URL";
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        scene.is_refused(&format!("sslmode={mode}"), unknown);
    }
    let other = scene.folder.path().join("other.pem");
    authority_in(&other);
    scene.is_refused(&format!("sslmode=require&sslrootcert={}", other.display()), unknown);
    fs::write(&other, "no certificate").unwrap();
    let unusable = "cannot be used: correct sslrootcert in the URL";
    scene.is_refused(&format!("sslmode=require&sslrootcert={}", other.display()), unusable);
    scene.is_refused("sslmode=require&sslrootcert=no%20such.pem", "no such.pem cannot be used");

    scene.connect("sslmode=disable").unwrap();
    assert!(scene.is_encrypted(&scene.trusting()) && !scene.is_encrypted("sslmode=disable"));
}

#[test]
fn a_certificate_for_another_host_or_one_that_has_expired_is_refused() {
    let other = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let Some(scene) = Scene::start(|params| params.subject_alt_names = other.subject_alt_names)
    else {
        return;
    };
    scene.is_refused(
        &scene.trusting(),
        "the certificate of PostgreSQL is for another host than that of the URL: correct the host, or the certificate",
    );
    let corrected = format!("{}?{}", scene.server.url(), scene.trusting());
    wait(PostgresStore::connect(PostgresSettings::new(&corrected).unwrap())).unwrap();

    let expired = Scene::start(|params| params.not_after = date_time_ymd(2020, 1, 1)).unwrap();
    expired.is_refused(&expired.trusting(), "has expired: renew it");
}

/// The system connects to itself by this address, which is not of the loopback.
const OF_ANOTHER_MACHINE: &str = "0.0.0.0";

#[test]
fn another_machine_gets_no_plaintext_unless_the_url_says_so() {
    let Some(server) = Server::start(&[]) else { return };
    let of = |host: &str, query: &str| {
        let url = server.url().replace("127.0.0.1", host);
        PostgresSettings::new(&format!("{url}{query}")).unwrap()
    };
    let says = "PostgreSQL offers no TLS, and is on another machine or the URL asks for TLS: set ssl = on in its settings; or write \
        sslmode=disable in the URL, and whoever can read the network reads every article";
    for (host, query) in [
        (OF_ANOTHER_MACHINE, ""),
        (OF_ANOTHER_MACHINE, "?sslmode=prefer"),
        ("127.0.0.1", "?sslmode=verify-full"),
    ] {
        let error = wait(PostgresStore::connect(of(host, query))).unwrap_err();
        assert_eq!(error.to_string(), says, "{host} {query}");
        assert_eq!(wait(of(host, query).client()).unwrap_err().to_string(), says);
    }
    for (host, query) in [(OF_ANOTHER_MACHINE, "?sslmode=disable"), ("127.0.0.1", "")] {
        let store = wait(PostgresStore::connect(of(host, query))).unwrap();
        assert_eq!(wait(store.counts()).unwrap().total(), 0);
    }
}

#[test]
fn no_password_goes_in_clear_text_to_another_machine() {
    let Some(server) = Server::start(&["password_encryption = 'scram-sha-256'"]) else { return };
    let here = format!("{}?sslmode=disable", server.url().replace("postgres@", "blog:right@"));
    let other = here.replace("127.0.0.1", OF_ANOTHER_MACHINE);
    let connect = |url: &str| {
        let settings = PostgresSettings::new(url).unwrap().schema("inbox").unwrap();
        wait(PostgresStore::connect(settings)).map(drop)
    };
    refusals::with_password(&server);
    connect(&other).unwrap();
    refusals::ask_for_password(&server, "password");
    let error = connect(&other).unwrap_err();
    let says = "PostgreSQL asks for the password in clear text, and the connection to its machine is not encrypted: ";
    assert!(error.to_string().starts_with(says), "{error}");
    assert!(!error.is_transient() && !format!("{error:?}").contains("right"), "{error:?}");
    connect(&here).unwrap();
}
