use std::net::IpAddr;

use tokio_postgres::config::{Config, Host, SslMode};

/// How connections are protected from those who can read or change what passes on the network.
///
/// ```
/// use article_webhook_postgres::{PostgresSettings, Protection};
///
/// let of = |url| PostgresSettings::new(url).map(|settings| settings.protection());
/// assert_eq!(of("postgresql://blog@db.example/blog")?, Protection::Tls);
/// assert_eq!(of("postgresql://blog@localhost/blog")?, Protection::ThisMachine);
/// assert_eq!(of("postgresql://blog@db.example/blog?sslmode=disable")?, Protection::Plaintext);
/// assert!(of("postgresql://db.example/blog").is_err(), "it names no user");
/// # Ok::<(), article_webhook_inbox::Error>(())
/// ```
// The weakest is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Protection {
    /// Not at all: `sslmode=disable`, and the server is on another machine. A password is not sent in clear text: a server that
    /// asks for that is refused.
    Plaintext,
    /// What is sent stays on this machine: `localhost`, an address of the loopback, or a Unix socket.
    ThisMachine,
    /// By TLS, with a certificate that is verified.
    Tls,
}

impl Protection {
    /// As the log names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plaintext => "plaintext",
            Self::ThisMachine => "to this machine",
            Self::Tls => "TLS",
        }
    }

    /// The protection of connections to the host of this index.
    pub(crate) fn of_host(config: &Config, index: usize) -> Self {
        let (host, address) = (config.get_hosts().get(index), config.get_hostaddrs().get(index));
        match (config.get_ssl_mode(), is_this_machine(host, address)) {
            (SslMode::Disable, false) => Self::Plaintext,
            (SslMode::Disable | SslMode::Prefer, true) => Self::ThisMachine,
            // To another machine, the driver's default is not enough.
            _ => Self::Tls,
        }
    }

    /// The weakest protection of the hosts.
    pub(crate) fn of(config: &Config) -> Self {
        let number = config.get_hosts().len().max(config.get_hostaddrs().len());
        (0..number).map(|index| Self::of_host(config, index)).min().unwrap_or(Self::Plaintext)
    }
}

/// An address goes before a name, as for the driver.
fn is_this_machine(host: Option<&Host>, address: Option<&IpAddr>) -> bool {
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
    match (address, host) {
        (Some(address), _) => is_loopback(*address),
        (None, Some(Host::Tcp(name))) => {
            name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
        }
        #[cfg(unix)]
        (None, Some(Host::Unix(_))) => true,
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection(settings: &str) -> Protection {
        Protection::of(&settings.parse().unwrap())
    }

    #[test]
    fn no_plaintext_leaves_this_machine_unless_sslmode_says_so() {
        let this_machine = [
            "host=localhost",
            "host=LOCALHOST",
            "host=127.0.0.1",
            "host=127.8.9.10",
            "host=::1",
            "host=::ffff:127.0.0.1",
            "host=/run/postgresql",
            "hostaddr=127.0.0.1",
            "host=db.example hostaddr=127.0.0.1",
            "host=localhost,/run/postgresql,127.0.0.1",
            "postgresql://blog@[::1]:5433/blog",
            "postgresql://blog@%2Frun%2Fpostgresql/blog",
        ];
        let others = [
            "host=db.example",
            "host=db",
            "host=localhost.example",
            "host=127.0.0.1.example",
            "host=10.0.0.1",
            "host=fe80::1",
            "host=::ffff:10.0.0.1",
            "hostaddr=10.0.0.1",
            "host=localhost hostaddr=10.0.0.1",
            "postgresql://blog@db.example/blog",
        ];
        let with = |settings: &str, mode: &str| match settings.contains("://") {
            true => format!("{settings}?sslmode={mode}"),
            false => format!("{settings} sslmode={mode}"),
        };
        for (hosts, protected, disabled) in [
            (&this_machine[..], Protection::ThisMachine, Protection::ThisMachine),
            (&others, Protection::Tls, Protection::Plaintext),
        ] {
            for host in hosts {
                assert_eq!(protection(host), protected, "{host}");
                assert_eq!(protection(&with(host, "prefer")), protected, "{host}");
                assert_eq!(protection(&with(host, "require")), Protection::Tls, "{host}");
                assert_eq!(protection(&with(host, "disable")), disabled, "{host}");
            }
        }
    }

    #[test]
    fn the_weakest_of_several_hosts_counts() {
        let hosts = "host=localhost,db.example";
        assert_eq!(protection(hosts), Protection::ThisMachine);
        assert_eq!(protection(&format!("{hosts} sslmode=disable")), Protection::Plaintext);
        let config = hosts.parse().unwrap();
        let each = [0, 1].map(|index| Protection::of_host(&config, index));
        assert_eq!(each, [Protection::ThisMachine, Protection::Tls]);
    }
}
