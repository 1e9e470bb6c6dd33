use std::{fmt, io, time::Duration};

use tokio::{
    net::TcpStream,
    time::{Instant, timeout},
};

use super::{
    CheckError, Report,
    run::run,
    site::{Site, header_name},
};

/// When it is over, cases that were not yet tried have failed.
const LIMIT: Duration = Duration::from_secs(55);

/// Checks the receiver at `url`, an `http` one on this machine, that accepts `token`: the whole `Authorization`
/// header, scheme word included. Takes some seconds, and a minute at most.
///
/// # Errors
///
/// See [`CheckError`]; that the receiver is wrong is none.
///
/// ```no_run
/// # async fn check() -> Result<(), article_simulator::check::CheckError> {
/// let report = article_simulator::check::check_receiver(
///     "http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38").await?;
/// println!("{report}");
/// assert!(report.is_conformant());
/// # Ok(())
/// # }
/// ```
pub async fn check_receiver(url: &str, token: &str) -> Result<Report, CheckError> {
    Check::new(url, token)?.run().await
}

/// A check with settings.
///
/// ```
/// use article_simulator::check::Check;
///
/// let check = Check::new("http://127.0.0.1:3000/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38")?
///     .event_header("X-Acme-Event")?
///     .job_id_header("X-Acme-Job-Id")?;
/// assert!(!format!("{check:?}").contains("5f2b9c0e7a1d4e38"));
/// assert!(Check::new("http://127.0.0.1:3000", "").is_err()); // no receiver accepts that token
/// # Ok::<(), article_simulator::check::CheckError>(())
/// ```
#[must_use]
pub struct Check {
    site: Site,
}

impl Check {
    /// A check of a receiver on this machine.
    ///
    /// # Errors
    ///
    /// The URL is not `http` on the loopback, or no receiver can accept the token.
    ///
    /// ```
    /// use article_simulator::check::{Check, CheckError};
    ///
    /// assert!(Check::new("http://[::1]:3000/", "Bearer 5f2b9c0e7a1d4e38").is_ok());
    /// let remote = Check::new("http://10.0.0.1:3000/", "Bearer 5f2b9c0e7a1d4e38");
    /// assert!(matches!(remote, Err(CheckError::Remote)));
    /// ```
    pub fn new(url: &str, token: &str) -> Result<Self, CheckError> {
        let check = Self::anywhere(url, token)?;
        if check.site.is_loopback() { Ok(check) } else { Err(CheckError::Remote) }
    }

    /// A check of a receiver anywhere. There is no TLS: whoever is on the way reads the token.
    ///
    /// # Errors
    ///
    /// The URL is no `http` one, or no receiver can accept the token.
    ///
    /// ```
    /// use article_simulator::check::{Check, CheckError};
    ///
    /// assert!(Check::anywhere("http://receiver.internal:3000/", "Bearer 5f2b9c0e7a1d4e38").is_ok());
    /// let tls = Check::anywhere("https://receiver.internal/", "Bearer 5f2b9c0e7a1d4e38");
    /// assert!(matches!(tls, Err(CheckError::Url)));
    /// ```
    pub fn anywhere(url: &str, token: &str) -> Result<Self, CheckError> {
        Ok(Self { site: Site::new(url, token)? })
    }

    /// The name of the header with the event; `X-Service-Event` unless set.
    ///
    /// # Errors
    ///
    /// It is no header name.
    ///
    /// ```
    /// # use article_simulator::check::Check;
    /// let check = Check::new("http://127.0.0.1:3000/", "Bearer 5f2b9c0e7a1d4e38")?;
    /// assert!(check.event_header("X Acme Event").is_err());
    /// # Ok::<(), article_simulator::check::CheckError>(())
    /// ```
    pub fn event_header(mut self, name: &str) -> Result<Self, CheckError> {
        self.site.event_header = header_name(name)?;
        Ok(self)
    }

    /// The name of the header with the job id; `X-Service-Job-Id` unless set.
    ///
    /// # Errors
    ///
    /// It is no header name.
    ///
    /// ```
    /// # use article_simulator::check::Check;
    /// let check = Check::new("http://127.0.0.1:3000/", "Bearer 5f2b9c0e7a1d4e38")?;
    /// assert!(check.job_id_header("X-Acme-Job-Id").is_ok());
    /// # Ok::<(), article_simulator::check::CheckError>(())
    /// ```
    pub fn job_id_header(mut self, name: &str) -> Result<Self, CheckError> {
        self.site.job_id_header = header_name(name)?;
        Ok(self)
    }

    /// Runs every case.
    ///
    /// # Errors
    ///
    /// Nobody listens.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use article_simulator::check::{Check, CheckError};
    ///
    /// // Nobody listens on the port of a listener that is gone.
    /// let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    /// let check = Check::new(&format!("http://127.0.0.1:{port}/"), "Bearer 5f2b9c0e7a1d4e38")?;
    /// assert!(matches!(check.run().await, Err(CheckError::Unreachable { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn run(mut self) -> Result<Report, CheckError> {
        let start = Instant::now();
        self.connect().await?;
        let receiver = self.site.origin();
        let findings = run(self.site, start + LIMIT).await;
        Ok(Report { receiver, findings, duration: start.elapsed() })
    }

    /// Finds the address that answers.
    async fn connect(&mut self) -> Result<(), CheckError> {
        let mut last = None;
        for address in self.site.addresses().await? {
            let connecting = timeout(self.site.patience, TcpStream::connect(address)).await;
            match connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(_) => {
                    self.site.address = address;
                    return Ok(());
                }
                Err(source) => last = Some(CheckError::Unreachable { address, source }),
            }
        }
        last.map_or(Ok(()), Err)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("receiver", &self.site.origin()).finish_non_exhaustive()
    }
}
