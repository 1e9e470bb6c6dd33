use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::net::lookup_host;
use tokio_postgres::config::{Config, Host, LoadBalanceHosts, SslMode, SslNegotiation};

use super::tls::has_tls;
use crate::{fault::Fault, settings::Protection};

/// How long connecting may take, with all hosts. A start may take ten seconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);

/// The hosts of the settings, each as the configuration of connections to it alone: the driver limits only how long the
/// system takes to connect, so one that then says nothing would leave the others untried.
pub(super) struct Hosts {
    each: Vec<Config>,
    is_random: bool,
    /// The one that was connected to last. It is tried first, so that others delay one connection and not each.
    last: AtomicUsize,
}

impl Hosts {
    pub(super) fn of(config: &Config) -> Self {
        let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
        let number = hosts.len().max(addresses.len());
        let suits = |length: usize, single: usize| length == number || length <= single;
        let each = if suits(hosts.len(), 0)
            && suits(addresses.len(), 0)
            && suits(config.get_ports().len(), 1)
        {
            (0..number).map(|index| alone(config, index)).collect()
        } else {
            // The driver says what is wrong.
            vec![config.clone()]
        };
        let is_random = config.get_load_balance_hosts() == LoadBalanceHosts::Random;
        Self { each, is_random, last: AtomicUsize::new(0) }
    }

    /// Whether there is one that must not be connected to without TLS.
    pub(super) fn need_tls(&self) -> bool {
        self.each.iter().any(|host| host.get_ssl_mode() == SslMode::Require)
    }

    /// Their numbers, in the order in which they are tried.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.each.len()).collect();
        if self.is_random {
            fastrand::shuffle(&mut order);
        } else {
            let last = self.last.load(Ordering::Relaxed);
            order.sort_by_key(|index| *index != last);
        }
        order
    }

    /// A connection to this one was made.
    pub(super) fn connected(&self, index: usize) {
        self.last.store(index, Ordering::Relaxed);
    }

    /// How long each may take.
    pub(super) fn limit_of_each(&self) -> Duration {
        CONNECT_TIMEOUT / u32::try_from(self.each.len()).unwrap_or(u32::MAX).max(1)
    }

    /// The addresses of one, as configurations.
    pub(super) async fn addresses(&self, index: usize) -> Result<Vec<Config>, Fault> {
        let host = &self.each[index];
        let ([Host::Tcp(name)], []) = (host.get_hosts(), host.get_hostaddrs()) else {
            return Ok(vec![host.clone()]);
        };
        let found = lookup_host((name.as_str(), 0)).await.map_err(Fault::unreachable)?;
        let with = |address: std::net::SocketAddr| {
            let mut host = host.clone();
            host.hostaddr(address.ip());
            host
        };
        Ok(found.map(with).collect())
    }
}

/// The configuration with one of its hosts.
fn alone(config: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(index) {
        Some(Host::Tcp(name)) => _ = one.host(name),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => _ = one.host_path(folder),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(index) {
        one.hostaddr(*address);
        if config.get_hosts().is_empty() {
            // TLS needs a name.
            one.host(address.to_string());
        }
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(index).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    let (mode, negotiation) = match Protection::of_host(config, index) {
        // TLS that begins at once is a `Plaintext`.
        Protection::Plaintext => (SslMode::Require, SslNegotiation::Direct),
        Protection::ThisMachine if !has_tls() => (SslMode::Disable, config.get_ssl_negotiation()),
        Protection::ThisMachine => (config.get_ssl_mode(), config.get_ssl_negotiation()),
        Protection::Tls => (SslMode::Require, config.get_ssl_negotiation()),
    };
    one.ssl_mode(mode)
        .ssl_negotiation(negotiation)
        .channel_binding(config.get_channel_binding())
        .target_session_attrs(config.get_target_session_attrs());
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "postgresql://blog:canary@db1,db2:5433,db3/blog?options=-c%20geqo%3Doff&application_name=a\
        &connect_timeout=1&tcp_user_timeout=2&keepalives_idle=3&keepalives_interval=4&keepalives_retries=5\
        &target_session_attrs=read-write&channel_binding=require&sslmode=require";

    #[test]
    fn each_host_has_everything_that_the_url_says() {
        let hosts = Hosts::of(&URL.parse().unwrap());
        for (index, port) in [5432, 5433, 5432].into_iter().enumerate() {
            let url = format!("@db{}:{port}/", index + 1);
            let expected = URL.replace("@db1,db2:5433,db3/", &url).parse().unwrap();
            assert_eq!(hosts.each[index], expected);
        }
        let hosts =
            Hosts::of(&"host=/run/a,db hostaddr=10.0.0.1,10.0.0.2 user=blog".parse().unwrap());
        let expected = ["host=/run/a hostaddr=10.0.0.1", "host=db hostaddr=10.0.0.2"];
        let expected = expected.map(|one| format!("{one} user=blog sslmode=require"));
        assert_eq!(hosts.each, expected.map(|one| one.parse().unwrap()));
        let hosts = Hosts::of(&"hostaddr=10.0.0.1 user=blog".parse().unwrap());
        let named = "host=10.0.0.1 hostaddr=10.0.0.1 user=blog sslmode=require";
        assert_eq!(hosts.each, [named.parse().unwrap()]);
    }

    #[test]
    fn the_host_that_was_connected_to_last_is_tried_first() {
        let hosts = Hosts::of(&"postgresql://blog@db1,db2,db3/blog".parse().unwrap());
        assert_eq!(hosts.in_order(), [0, 1, 2]);
        hosts.connected(1);
        assert_eq!(hosts.in_order(), [1, 0, 2]);
        assert!(hosts.limit_of_each() * 3 <= CONNECT_TIMEOUT);
    }

    #[test]
    fn a_configuration_that_does_not_agree_is_left_to_the_driver() {
        let config: Config = "host=db1,db2 port=1,2,3 user=blog".parse().unwrap();
        assert_eq!(Hosts::of(&config).each, [config]);
    }
}
