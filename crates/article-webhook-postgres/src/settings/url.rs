use std::path::PathBuf;

use article_webhook_inbox::Error;
use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Config, Host, SslMode};

/// A URL of the database, with what the driver does not know of it.
#[derive(Debug)]
pub(super) struct Url {
    pub(super) config: Config,
    /// The file of `sslrootcert`.
    pub(super) roots: Option<PathBuf>,
}

impl Url {
    /// Reads a URL. `verify-ca` and `verify-full` are `require` here, with which each certificate is verified completely.
    pub(super) fn read(url: &str) -> Result<Self, Error> {
        let (url, roots) = without_roots(url);
        // The parser's error may quote a part of the URL.
        let config: Config = url.parse().map_err(|_| match has_schema(&url) {
            true => Error::invalid(
                "the URL of the database has `schema`, which the tool alone reads: leave it out, and name the schema with \
                 PostgresSettings::schema",
            ),
            false => invalid(),
        })?;
        // After an @ in a password comes the rest of the password.
        let has_rest = |host: &Host| matches!(host, Host::Tcp(name) if name.contains('@'));
        if config.get_hosts().iter().any(has_rest) {
            return Err(invalid());
        }
        if roots.is_some() && config.get_ssl_mode() != SslMode::Require {
            return Err(Error::invalid(
                "the URL of the database names certificates and does not ask for TLS: add sslmode=verify-full",
            ));
        }
        Ok(Self { config, roots })
    }
}

fn invalid() -> Error {
    Error::invalid(
        "the URL of the database is not valid: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters of \
         the password as %XX",
    )
}

fn has_schema(url: &str) -> bool {
    url.split_once('?')
        .is_some_and(|(_, query)| query.split('&').any(|pair| pair.starts_with("schema=")))
}

/// The URL without the parameters that only libpq knows, and the file of certificates that it names. A list of `key=value`
/// pairs stays as it is.
fn without_roots(url: &str) -> (String, Option<PathBuf>) {
    let is_url = ["postgresql://", "postgres://"].iter().any(|scheme| url.starts_with(scheme));
    let Some((base, query)) = url.split_once('?').filter(|_| is_url) else {
        return (url.to_owned(), None);
    };
    let (mut kept, mut roots) = (Vec::new(), None);
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", "verify-ca" | "verify-full")) => kept.push("sslmode=require"),
            Some(("sslrootcert", "system")) => roots = None,
            Some(("sslrootcert", file)) => {
                roots = Some(PathBuf::from(&*percent_decode_str(file).decode_utf8_lossy()));
            }
            _ => kept.push(pair),
        }
    }
    let (mark, query) = (if kept.is_empty() { "" } else { "?" }, kept.join("&"));
    (format!("{base}{mark}{query}"), roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(query: &str) -> String {
        format!("postgresql://blog:canary@db.example/blog{query}")
    }

    #[test]
    fn the_names_of_libpq_are_known() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let query = format!("?connect_timeout=1&sslmode={mode}&sslrootcert=%2Fetc%2Fdb.pem");
            let Url { config, roots } = Url::read(&url(&query)).unwrap();
            assert_eq!(config.get_ssl_mode(), SslMode::Require);
            assert_eq!(roots, Some(PathBuf::from("/etc/db.pem")));
            assert!(config.get_connect_timeout().is_some());
        }
        let system = Url::read(&url("?sslmode=verify-full&sslrootcert=system")).unwrap();
        assert_eq!(system.roots, None);
    }

    #[test]
    fn a_password_with_an_at_sign_that_is_not_escaped_is_no_host() {
        let error = Url::read("postgresql://blog:se@canary@127.0.0.1/blog").unwrap_err();
        assert!(error.to_string().ends_with("%XX") && !format!("{error:?}").contains("canary"));
        assert!(Url::read("postgresql://blog:se%40canary@127.0.0.1/blog").is_ok());
    }

    #[test]
    fn certificates_without_tls_and_unknown_modes_are_refused() {
        let error = Url::read(&url("?sslrootcert=db.pem")).unwrap_err();
        assert!(error.to_string().ends_with("add sslmode=verify-full"), "{error}");
        for query in ["?sslmode=allow", "?sslmode=", "?sslcert=db.pem"] {
            let error = Url::read(&url(query)).unwrap_err();
            assert!(error.is_invalid() && !format!("{error:?}").contains("canary"), "{error:?}");
        }
    }
}
