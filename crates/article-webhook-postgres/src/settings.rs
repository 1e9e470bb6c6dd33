mod node;
mod protection;
mod url;

use std::{fmt, path::PathBuf, time::Duration};

use article_webhook_inbox::{Clock, Error};
use tokio_postgres::config::Config;

pub use self::protection::Protection;
use self::url::Url;

/// The settings of a [`PostgresStore`](crate::PostgresStore).
///
/// ```
/// use article_webhook_postgres::PostgresSettings;
///
/// let settings = PostgresSettings::new("postgresql://blog:secret@db.example/blog")?.schema("inbox")?;
/// assert!(!format!("{settings:?}").contains("secret"));
///
/// let error = PostgresSettings::new("postgresql://db.example:port/blog").unwrap_err();
/// assert!(error.is_invalid() && error.to_string().starts_with("the URL of the database"));
/// # Ok::<(), article_webhook_inbox::Error>(())
/// ```
#[derive(Clone)]
pub struct PostgresSettings {
    pub(crate) config: Config,
    /// The file of the certificates that are trusted. Without one, those of the system are.
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "a URL that names one is refused")
    )]
    pub(crate) roots: Option<PathBuf>,
    pub(crate) schema: String,
    /// The name of this node among others.
    pub(crate) node: String,
    pub(crate) receiving: usize,
    pub(crate) working: usize,
    pub(crate) purpose: Purpose,
    /// The clock of a test. Without one, the database's time counts.
    pub(crate) clock: Option<Clock>,
}

/// What the inbox is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To receive, to work and to be changed.
    Work,
    /// To be read alone.
    Read,
}

/// How long connecting to one address may take, until it can be used.
const ADDRESS_TIMEOUT: Duration = Duration::from_secs(3);

/// After so long without an answer, a connection counts as lost: a server that has vanished sends no error.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

impl PostgresSettings {
    /// The settings for the database of this URL, or of a list of `key=value` pairs: a role that may create tables, the hosts,
    /// and the database. Of several hosts the one that allows writing is used.
    ///
    /// What the URL says about time-outs, keepalives and `target_session_attrs` is obeyed. Where it says nothing, a
    /// connection that is silent for ten seconds counts as lost, and a host that cannot be used after three is passed over for
    /// the next. All hosts together have eight seconds.
    ///
    /// | `sslmode` | to this machine: `localhost`, an address of the loopback, a Unix socket | to another machine |
    /// |---|---|---|
    /// | none, or `prefer` | TLS if the server offers it | TLS |
    /// | `require`, `verify-ca`, `verify-full` | TLS | TLS |
    /// | `disable` | no TLS | no TLS: whoever can read the network reads every article. A server that asks for the password in clear text is refused |
    ///
    /// With TLS, the certificate must be of an authority that is trusted, and for the host of the URL. Without the feature `tls`,
    /// connections that need TLS are refused when they are made; with it and without `tls-aws-lc`, they are refused unless the
    /// application has installed a cryptography provider of rustls.
    ///
    /// Trusted are the authorities of the system, or those in the file that a URL names as `sslrootcert`, in PEM.
    /// Certificates of the client are not supported.
    ///
    /// # Errors
    ///
    /// It is no such URL. It names no host or no user. It names certificates and does not ask for TLS.
    pub fn new(url: &str) -> Result<Self, Error> {
        let Url { config, roots } = Url::read(url)?;
        Ok(Self { roots, ..Self::from_config(config)? })
    }

    /// The settings for the connections that the application configures: for a password that comes from elsewhere, for
    /// instance. What it leaves open is as [`new`](Self::new) says.
    ///
    /// ```
    /// use article_webhook_postgres::PostgresSettings;
    ///
    /// let mut config = tokio_postgres::Config::new();
    /// config.host("db.example").user("blog").password("a/b?c").dbname("blog");
    /// assert!(PostgresSettings::from_config(config.clone()).is_ok());
    ///
    /// let error = PostgresSettings::from_config(tokio_postgres::Config::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "the database has no host: name one in its URL or configuration");
    /// ```
    ///
    /// # Errors
    ///
    /// As those of [`new`](Self::new).
    pub fn from_config(mut config: Config) -> Result<Self, Error> {
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(missing("host"));
        }
        if config.get_user().is_none() {
            return Err(missing("user"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(ADDRESS_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(ANSWER_TIMEOUT);
        }
        // The driver has a default of this one, so a missing value cannot be distinguished from it.
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(ANSWER_TIMEOUT / 2);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(ANSWER_TIMEOUT / 5);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(3);
        }
        let node = node::default();
        if config.get_application_name().is_none() {
            config.application_name(node::application_name(&node));
        }
        let (schema, receiving, working) = ("public".into(), 4, 2);
        let purpose = Purpose::Work;
        Ok(Self { config, roots: None, schema, node, receiving, working, purpose, clock: None })
    }

    /// How connections with these settings are protected: of several hosts, the weakest counts.
    #[must_use]
    pub fn protection(&self) -> Protection {
        Protection::of(&self.config)
    }

    /// The schema of the tables. It is created if it is not there. The default is `public`.
    ///
    /// # Errors
    ///
    /// It is no plain name: a lower-case letter or `_` first, then up to 62 of these and digits.
    pub fn schema(self, schema: &str) -> Result<Self, Error> {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        let is_name = schema.len() <= 63
            && schema.bytes().next().is_some_and(is_letter)
            && schema.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
            && !schema.starts_with("pg_");
        if !is_name {
            return Err(Error::invalid(
                "the schema is no plain name: begin with a lower-case letter, go on with these, digits and _, at most 63, \
                 and not with pg_",
            ));
        }
        Ok(Self { schema: schema.into(), ..self })
    }

    /// The name of this node: an entry shows the one that [has it, or had it last](article_webhook_inbox::Entry::node). The default is
    /// `HOST:PID`, the name of the machine and the id of this process. Connections have it in their `application_name`, after
    /// `article_inbox`, unless the URL names another.
    ///
    /// ```
    /// use article_webhook_postgres::PostgresSettings;
    ///
    /// let settings = PostgresSettings::new("postgresql://blog@db.example/blog")?.node("web-1")?;
    /// assert!(format!("{settings:?}").contains(r#"node: "web-1""#));
    ///
    /// let error = settings.node("web 1").unwrap_err();
    /// assert_eq!(error.to_string(), "the name of the node: expected 1 to 49 ASCII characters without spaces");
    /// # Ok::<(), article_webhook_inbox::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// It is empty, longer than 49 bytes, or has a space or a character that is not ASCII.
    pub fn node(mut self, name: &str) -> Result<Self, Error> {
        if !node::is_valid(name) {
            return Err(Error::invalid(
                "the name of the node: expected 1 to 49 ASCII characters without spaces",
            ));
        }
        if self.config.get_application_name() == Some(&*node::application_name(&self.node)) {
            self.config.application_name(node::application_name(name));
        }
        Ok(Self { node: name.into(), ..self })
    }

    /// How many connections store deliveries. The default is 4. They are apart from those of the worker, so that neither
    /// waits for the other.
    ///
    /// # Errors
    ///
    /// There are none: a pool needs at least one.
    pub fn receiving_connections(self, connections: usize) -> Result<Self, Error> {
        Ok(Self { receiving: at_least_one(connections)?, ..self })
    }

    /// How many connections serve workers, operators and reports. The default is 2.
    ///
    /// # Errors
    ///
    /// There are none: a pool needs at least one.
    pub fn working_connections(self, connections: usize) -> Result<Self, Error> {
        Ok(Self { working: at_least_one(connections)?, ..self })
    }

    /// Opens the inbox to read it alone: for a role that has `USAGE` on the schema and `SELECT` on the tables, and nothing else. The
    /// server may be a standby. No table is made, and each call that would change something fails.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { purpose: Purpose::Read, ..self }
    }

    /// Takes the time from this clock, and not from the database: for tests. All nodes must share it.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock: Some(clock), ..self }
    }
}

fn missing(what: &str) -> Error {
    Error::invalid(format!("the database has no {what}: name one in its URL or configuration"))
}

fn at_least_one(connections: usize) -> Result<usize, Error> {
    match connections {
        0 => Err(Error::invalid("a pool without connections: give it at least one")),
        connections => Ok(connections),
    }
}

/// Shows where the database is, and neither the role nor the password.
impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSettings")
            .field("hosts", &self.config.get_hosts())
            .field("ports", &self.config.get_ports())
            .field("database", &self.config.get_dbname())
            .field("schema", &self.schema)
            .field("node", &self.node)
            .field("receiving", &self.receiving)
            .field("working", &self.working)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "postgresql://blog:canary@db.example/blog";

    #[test]
    fn what_the_url_says_nothing_about_is_safe() {
        let config = PostgresSettings::new(URL).unwrap().config;
        assert_eq!(config.get_connect_timeout(), Some(&ADDRESS_TIMEOUT));
        assert_eq!(config.get_tcp_user_timeout(), Some(&ANSWER_TIMEOUT));
        assert_eq!(config.get_keepalives_idle(), ANSWER_TIMEOUT / 2);
        for (own, expected) in [
            ("keepalives_idle=60", (60, 2, 3)),
            ("keepalives_interval=7", (5, 7, 3)),
            ("keepalives_retries=9", (5, 2, 9)),
        ] {
            let config = PostgresSettings::new(&format!("{URL}?{own}")).unwrap().config;
            let interval = config.get_keepalives_interval().unwrap().as_secs();
            let idle = config.get_keepalives_idle().as_secs();
            assert_eq!((idle, interval, config.get_keepalives_retries().unwrap()), expected);
        }
        let own = format!("{URL}?connect_timeout=1");
        let config = PostgresSettings::new(&own).unwrap().config;
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(1)));
    }

    #[test]
    fn connections_are_named_for_the_node_unless_the_url_names_them() {
        let named = |query: &str| {
            let settings = PostgresSettings::new(&format!("{URL}{query}")).unwrap();
            let settings = settings.node("web-1").unwrap().node("web-2").unwrap();
            settings.config.get_application_name().map(str::to_owned)
        };
        assert_eq!(named("").as_deref(), Some("article_inbox web-2"));
        assert_eq!(named("?application_name=blog").as_deref(), Some("blog"));
        for name in ["", "web 1", "büro", &"a".repeat(50)] {
            assert!(PostgresSettings::new(URL).unwrap().node(name).is_err(), "{name}");
        }
        assert!(PostgresSettings::new(URL).unwrap().node(&"a".repeat(49)).is_ok());
    }

    #[test]
    fn no_error_and_no_debug_shows_the_password() {
        let settings = PostgresSettings::new(URL).unwrap();
        assert!(!format!("{settings:?}").contains("canary"));
        for url in [
            "postgresql://blog:canary@db:x/y",
            "canary",
            "host=db canary",
            "host=db password=canary x=1",
        ] {
            let error = PostgresSettings::new(url).unwrap_err();
            assert!(!format!("{error:?}").contains("canary"), "{error:?}");
        }
        assert!(settings.clone().schema("canary; DROP").is_err());
        assert!(settings.clone().schema("pg_catalog").is_err());
        assert!(settings.clone().schema("").is_err());
        assert!(settings.receiving_connections(0).is_err());
    }
}
