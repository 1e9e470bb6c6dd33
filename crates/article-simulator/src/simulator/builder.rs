use std::{fmt, net::Ipv4Addr, num::NonZeroU32, ops::RangeInclusive, sync::Arc, time::Duration};

use article_webhook_server::Server;
use tokio::task::JoinSet;

use crate::{
    Clock, InvalidTarget, Rule, Sender, Service, Settings, Simulator, StartError, Tenant,
    sender::SocketSender,
    simulator::{API_KEY, engine::Engine, front::Front},
};

/// Settings of a [`Simulator`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_simulator::Simulator;
///
/// let simulator = Simulator::builder()
///     .api_key("sk-1").credits(10)
///     .api_key("sk-2").paid_plan()
///     .start().await?;
/// assert_eq!((simulator.credits("sk-1"), simulator.credits("sk-2")), (Some(10), Some(1000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct SimulatorBuilder {
    settings: Settings,
    clock: Clock,
    sender: Option<Box<dyn Sender>>,
    concurrency: Option<usize>,
    port: u16,
    timeout: Duration,
    reaches_everywhere: bool,
    invalid: Option<InvalidTarget>,
}

impl Default for SimulatorBuilder {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            clock: Clock::real(),
            sender: None,
            concurrency: None,
            port: 0,
            timeout: Duration::from_secs(30),
            reaches_everywhere: false,
            invalid: None,
        }
    }
}

impl SimulatorBuilder {
    /// What everything that is drawn at random is drawn from: 0 unless set.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().seed(7);
    /// # let _ = settings;
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Whose time it keeps: real time unless set.
    ///
    /// ```
    /// # use article_simulator::{Clock, Simulator};
    /// let settings = Simulator::builder().clock(Clock::accelerated(60));
    /// # let _ = settings;
    /// ```
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// One more API key; the settings behind it are its own. Those before the first are of the key `sk-simulator`,
    /// which is the only one where none is given.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().api_key("sk-5f2b9c0e7a1d4e38");
    /// # let _ = settings;
    /// ```
    pub fn api_key(mut self, api_key: &str) -> Self {
        self.settings.tenants.push(Tenant::new(api_key));
        self
    }

    /// The credits that the key starts with: 1,000 unless set.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().api_key("sk-1").credits(0);
    /// # let _ = settings;
    /// ```
    pub fn credits(mut self, credits: u64) -> Self {
        self.tenant().credits = credits;
        self
    }

    /// Gives the key a paid plan.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().api_key("sk-1").paid_plan();
    /// # let _ = settings;
    /// ```
    pub fn paid_plan(mut self) -> Self {
        self.tenant().has_paid_plan = true;
        self
    }

    /// Configures a brand of the key, so that it can order at once.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().brand("brand_1");
    /// # let _ = settings;
    /// ```
    pub fn brand(mut self, brand_id: &str) -> Self {
        self.tenant().brand_id = Some(brand_id.to_owned());
        self
    }

    /// Delivers the articles of the key's brand there, and configures the brand `brand_1` if it has none.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().publish_target("http://127.0.0.1:3000/webhooks/articles", "Bearer secret");
    /// # let _ = settings;
    /// ```
    pub fn publish_target(mut self, url: &str, auth_token: &str) -> Self {
        let tenant = self.tenant();
        match tenant.clone().deliver_to(url, auth_token) {
            Ok(delivered) => *tenant = delivered,
            Err(invalid) => self.invalid = Some(invalid),
        }
        self
    }

    /// How many calls each key may make in how much time: any number unless set.
    ///
    /// ```
    /// # use {article_simulator::Simulator, std::{num::NonZeroU32, time::Duration}};
    /// let settings = Simulator::builder().rate_limit(NonZeroU32::MIN, Duration::from_secs(1));
    /// # let _ = settings;
    /// ```
    pub fn rate_limit(mut self, calls: NonZeroU32, per: Duration) -> Self {
        self.settings.rate_limit = Some((calls, per));
        self
    }

    /// How long jobs take, from the order to the end: 30 to 180 seconds unless set.
    ///
    /// ```
    /// # use {article_simulator::Simulator, std::time::Duration};
    /// let at_once = Simulator::builder().generation(Duration::ZERO..=Duration::ZERO);
    /// # let _ = at_once;
    /// ```
    pub fn generation(mut self, generation: RangeInclusive<Duration>) -> Self {
        self.settings.generation = generation;
        self
    }

    /// What an article costs: one credit unless set.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().price(5);
    /// # let _ = settings;
    /// ```
    pub fn price(mut self, credits: u64) -> Self {
        self.settings.price = credits;
        self
    }

    /// One more rule of what goes wrong.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule, Simulator};
    /// let settings = Simulator::builder().fault(Rule::new(Fault::Duplicate).probability(0.01));
    /// # let _ = settings;
    /// ```
    pub fn fault(mut self, rule: Rule) -> Self {
        self.settings.faults.push(rule);
        self
    }

    /// How many attempts are remembered: 10,000 unless set.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().attempts_kept(100);
    /// # let _ = settings;
    /// ```
    pub fn attempts_kept(mut self, attempts: usize) -> Self {
        self.settings.attempts_kept = attempts;
        self
    }

    /// How long an attempt may take in all, in real time: 30 seconds unless set. The document shows no figure.
    ///
    /// ```
    /// # use {article_simulator::Simulator, std::time::Duration};
    /// let settings = Simulator::builder().attempt_timeout(Duration::from_secs(1));
    /// # let _ = settings;
    /// ```
    pub fn attempt_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How many attempts may be on their way at once: unless set, one on a stepped clock, so that they arrive in
    /// their order, and 64 on any other.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().concurrency(64);
    /// # let _ = settings;
    /// ```
    pub fn concurrency(self, attempts: usize) -> Self {
        Self { concurrency: Some(attempts), ..self }
    }

    /// What carries attempts out, in the place of sockets.
    ///
    /// ```
    /// use article_simulator::{Outcome, Push, Sender, Sending, Simulator};
    ///
    /// struct Nowhere;
    ///
    /// impl Sender for Nowhere {
    ///     fn send<'a>(&'a self, _: &'a Push) -> Sending<'a> {
    ///         Box::pin(async { Outcome::failed("there is no network") })
    ///     }
    /// }
    /// let settings = Simulator::builder().sender(Nowhere);
    /// # let _ = settings;
    /// ```
    pub fn sender(self, sender: impl Sender) -> Self {
        Self { sender: Some(Box::new(sender)), ..self }
    }

    /// Where it listens on 127.0.0.1: a free port unless set.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().port(4000);
    /// # let _ = settings;
    /// ```
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Lets it deliver to other machines. It listens on this one alone in any case.
    ///
    /// ```
    /// # use article_simulator::Simulator;
    /// let settings = Simulator::builder().allow_network();
    /// # let _ = settings;
    /// ```
    pub fn allow_network(self) -> Self {
        Self { reaches_everywhere: true, ..self }
    }

    /// Starts it, on the runtime that it is awaited on.
    ///
    /// # Errors
    ///
    /// A publish target to which nothing can be delivered; a port that is in use.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// # use article_simulator::Simulator;
    /// let simulator = Simulator::builder().start().await?;
    /// let port = simulator.base_url().rsplit(':').next().unwrap().parse()?;
    /// assert!(Simulator::builder().port(port).start().await.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn start(mut self) -> Result<Simulator, StartError> {
        if let Some(invalid) = self.invalid {
            return Err(invalid.into());
        }
        let bound = |error| StartError::bind(self.port, error);
        let server = Server::bind((Ipv4Addr::LOCALHOST, self.port)).await.map_err(bound)?;
        let address = server.local_addr().map_err(bound)?;
        let last = self.tenant().api_key.clone();
        let first = self.settings.tenants.first().map(|tenant| tenant.api_key.clone());
        let api_key = first.unwrap_or(last);
        self.settings.base_url = format!("http://{address}");
        let is_stepped = self.clock.is_stepped();
        let concurrency = self.concurrency.unwrap_or(if is_stepped { 1 } else { 64 });
        let sender = self
            .sender
            .unwrap_or_else(|| Box::new(SocketSender::new(self.timeout, self.reaches_everywhere)));
        let service = Service::new(self.settings);
        let engine = Arc::new(Engine::new(service, self.clock.restarted(), sender, concurrency));
        let mut tasks = JoinSet::new();
        let front = Front(engine.clone());
        tasks.spawn(async move { _ = server.serve(front, std::future::pending()).await });
        if !is_stepped {
            tasks.spawn(engine.clone().run());
        }
        Ok(Simulator { engine, address, api_key, _tasks: tasks })
    }

    /// The tenant whose settings are being given.
    fn tenant(&mut self) -> &mut Tenant {
        let tenants = &mut self.settings.tenants;
        if tenants.is_empty() {
            tenants.push(Tenant::new(API_KEY));
        }
        tenants.last_mut().expect("there is one")
    }
}

impl fmt::Debug for SimulatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatorBuilder").field("clock", &self.clock).finish_non_exhaustive()
    }
}
