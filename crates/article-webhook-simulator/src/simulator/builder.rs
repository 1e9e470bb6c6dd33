use std::{fmt, net::Ipv4Addr, num::NonZeroU32, ops::RangeInclusive, sync::Arc, time::Duration};

use article_webhook_server::Server;
use tokio::task::JoinSet;

use super::{
    Simulator, clock::SimulatorClock, engine::Engine, error::StartError, http_service::HttpService,
};
use crate::{
    InvalidTarget, Rule, Sender, Service, Settings, Tenant,
    deliveries::{Network, SocketSender},
};

/// The API key if none is set.
const API_KEY: &str = "sk-simulator";

/// Settings of a [`Simulator`]. [`start`](Self::start) refuses settings with which it could not work.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_webhook_simulator::Simulator;
///
/// let simulator = Simulator::builder()
///     .api_key("sk-1").credits(10)
///     .api_key("sk-2").paid_plan()
///     .start().await?;
/// assert_eq!((simulator.credits("sk-1"), simulator.credits("sk-2")), (Some(10), Some(1000)));
///
/// let error = Simulator::builder().concurrency(0).start().await.unwrap_err();
/// assert_eq!(error.to_string(), "the concurrency must be at least 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct SimulatorBuilder {
    settings: Settings,
    clock: SimulatorClock,
    sender: Option<Box<dyn Sender>>,
    concurrency: Option<usize>,
    port: u16,
    network: Network,
    invalid: Option<InvalidTarget>,
}

impl Default for SimulatorBuilder {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            clock: SimulatorClock::real(),
            sender: None,
            concurrency: None,
            port: 0,
            network: Network::Loopback,
            invalid: None,
        }
    }
}

impl SimulatorBuilder {
    /// The seed of everything random: 0 unless set.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The clock: real time unless set.
    pub fn clock(self, clock: SimulatorClock) -> Self {
        Self { clock, ..self }
    }

    /// Adds an API key. The following settings of a key apply to this one. Without any key, there is the key
    /// `sk-simulator`.
    pub fn api_key(mut self, api_key: &str) -> Self {
        self.settings.tenants.push(Tenant::new(api_key));
        self
    }

    /// The credits of the key at the start: 1,000 unless set.
    pub fn credits(mut self, credits: u64) -> Self {
        self.tenant().credits = credits;
        self
    }

    /// Gives the key a paid plan.
    pub fn paid_plan(mut self) -> Self {
        self.tenant().has_paid_plan = true;
        self
    }

    /// Configures a brand for the key, so that articles can be ordered at once.
    pub fn brand(mut self, brand_id: &str) -> Self {
        self.tenant().brand_id = Some(brand_id.to_owned());
        self
    }

    /// Adds a publish target to the brand of the key, which is `brand_1` unless it is set.
    pub fn publish_target(mut self, url: &str, auth_token: &str) -> Self {
        let tenant = self.tenant();
        match tenant.clone().deliver_to(url, auth_token) {
            Ok(delivered) => *tenant = delivered,
            Err(invalid) => self.invalid = Some(invalid),
        }
        self
    }

    /// How many calls each key may make in a period: unlimited unless set.
    pub fn rate_limit(mut self, calls: NonZeroU32, period: Duration) -> Self {
        self.settings.rate_limit = Some((calls, period));
        self
    }

    /// How long jobs take, from the order to the end: 30 to 180 seconds unless set.
    pub fn generation(mut self, generation: RangeInclusive<Duration>) -> Self {
        self.settings.generation = generation;
        self
    }

    /// The price of an article: one credit unless set.
    pub fn price(mut self, credits: u64) -> Self {
        self.settings.price = credits;
        self
    }

    /// Adds a rule for a fault.
    pub fn fault(mut self, rule: Rule) -> Self {
        self.settings.faults.push(rule);
        self
    }

    /// How many attempts are made at the same time. Unless set, one with a stepped clock, so that deliveries arrive in
    /// order, and 64 with any other clock.
    pub fn concurrency(self, attempts: usize) -> Self {
        Self { concurrency: Some(attempts), ..self }
    }

    /// The sender of attempts: over sockets unless set.
    pub fn sender(self, sender: impl Sender) -> Self {
        Self { sender: Some(Box::new(sender)), ..self }
    }

    /// The port on 127.0.0.1: a free port unless set.
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Allows deliveries to other machines. The API is on this machine in any case.
    pub fn allow_network(self) -> Self {
        Self { network: Network::Everywhere, ..self }
    }

    /// Starts the simulator on the current runtime.
    ///
    /// # Errors
    ///
    /// A publish target is not valid, the port is in use, a clock is 0 times as fast as real time, the concurrency is
    /// 0, jobs end before they start, or the period of the rate limit is too short.
    pub async fn start(mut self) -> Result<Simulator, StartError> {
        if let Some(invalid) = self.invalid {
            return Err(invalid.into());
        }
        self.validate().map_err(StartError::setting)?;
        let clock = self.clock.started();
        let clock =
            clock.ok_or(StartError::setting("a clock must be accelerated at least 1 time"))?;
        let bound = |error| StartError::bind(self.port, error);
        let server = Server::bind((Ipv4Addr::LOCALHOST, self.port)).await.map_err(bound)?;
        let address = server.local_addr().map_err(bound)?;
        if self.settings.tenants.is_empty() {
            self.settings.tenants.push(Tenant::new(API_KEY));
        }
        let api_key = self.settings.tenants[0].api_key.clone();
        self.settings.base_url = format!("http://{address}");
        let is_stepped = clock.is_stepped();
        let concurrency = self.concurrency.unwrap_or(if is_stepped { 1 } else { 64 });
        let sender = self.sender.unwrap_or_else(|| Box::new(SocketSender::new(self.network)));
        let service = Service::new(self.settings);
        let engine = Arc::new(Engine::new(service, clock, sender, concurrency));
        let mut tasks = JoinSet::new();
        let api = HttpService(engine.clone());
        tasks.spawn(async move { _ = server.serve(api, std::future::pending()).await });
        if !is_stepped {
            tasks.spawn(engine.clone().run());
        }
        Ok(Simulator { engine, address, api_key, _tasks: tasks })
    }

    fn validate(&self) -> Result<(), &'static str> {
        if self.concurrency == Some(0) {
            return Err("the concurrency must be at least 1");
        }
        if self.settings.generation.is_empty() {
            return Err("the longest generation must not be shorter than the shortest");
        }
        match self.settings.rate_limit {
            Some((calls, period)) if (period / calls.get()).is_zero() => {
                Err("the period of the rate limit must be at least 1 ns per call")
            }
            _ => Ok(()),
        }
    }

    /// The tenant to which the settings of a key apply.
    fn tenant(&mut self) -> &mut Tenant {
        let tenants = &mut self.settings.tenants;
        if tenants.is_empty() {
            tenants.push(Tenant::new(API_KEY));
        }
        tenants.last_mut().expect("there is one now")
    }
}

impl fmt::Debug for SimulatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatorBuilder").field("clock", &self.clock).finish_non_exhaustive()
    }
}
