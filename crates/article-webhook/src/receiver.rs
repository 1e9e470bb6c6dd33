use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use subtle::ConditionallySelectable;

use crate::{
    Envelope, Event, Headers, JobId, ReceiverBuilder, Refused, Rejection, ServiceHeader, Targets,
    drain::Leftover,
    head::{declared_length, is_json, is_plain},
    header::{Repeated, single},
    log,
    settings::Settings,
    target::Target,
};

/// Decides which requests are deliveries of the service, from their headers alone.
///
/// It knows the accepted tokens, the limit of a body and the names of the headers. A clone is
/// cheap and shares the tokens with its original. There is none without a token.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// assert!(receiver.open(&headers).is_ok());
///
/// let refused = receiver.open(&[("Authorization", "Bearer guess")]).unwrap_err();
/// assert_eq!(refused.answer().status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Receiver(Arc<Shared>);

struct Shared {
    targets: RwLock<Arc<[Target]>>,
    settings: Settings,
    refusals: log::Refusals,
}

impl Receiver {
    /// A receiver with the settings that suit the service as it is documented. One token is the
    /// target `default`.
    ///
    /// ```
    /// use article_webhook::{AuthToken, Receiver};
    ///
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// assert_eq!(receiver.body_limit(), 8 * 1024 * 1024);
    /// assert!(AuthToken::new("").is_err()); // and so there is no receiver that lets everyone in
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    #[must_use]
    pub fn new(targets: impl Into<Targets>) -> Self {
        Self::from_parts(targets.into(), Settings::default())
    }

    /// A receiver with other settings.
    ///
    /// ```
    /// use article_webhook::{AuthToken, Receiver};
    ///
    /// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// let receiver = Receiver::builder(token.clone()).body_limit(1 << 20).build()?;
    /// assert_eq!(receiver.body_limit(), 1 << 20);
    ///
    /// assert!(Receiver::builder(token).body_limit(0).build().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(targets: impl Into<Targets>) -> ReceiverBuilder {
        ReceiverBuilder::new(targets.into())
    }

    pub(crate) fn from_parts(targets: Targets, settings: Settings) -> Self {
        targets.0.iter().for_each(log::short_token);
        Self(Arc::new(Shared {
            targets: RwLock::new(targets.0.into()),
            settings,
            refusals: log::Refusals::default(),
        }))
    }

    /// Judges the headers of a request. Nothing of its body is needed, so nothing of a stranger's
    /// body is read.
    ///
    /// # Errors
    ///
    /// In this order: `Authorization` is not one accepted token (401); `Content-Type` is not
    /// `application/json` in UTF-8, or the body is encoded (415); a header of the service is
    /// repeated, invalid or, under [`strict`](ReceiverBuilder::strict), missing (400); the declared
    /// length is over the limit (413).
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver, Rejection};
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let mut headers = vec![("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    ///                        ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// assert!(receiver.open(&headers).is_ok());
    ///
    /// headers.push(("Authorization", "Bearer 5f2b9c0e7a1d4e38"));
    /// let refused = receiver.open(&headers).unwrap_err();
    /// assert_eq!(*refused.rejection(), Rejection::AuthorizationRepeated);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, headers: &(impl Headers + ?Sized)) -> Result<Envelope, Refused> {
        self.door(headers, |receiver| {
            let presented = single(headers, "authorization")
                .map_err(|Repeated| Rejection::AuthorizationRepeated)?
                .ok_or(Rejection::AuthorizationMissing)?;
            let target = receiver.authenticate(presented)?;
            Ok((target, None))
        })
    }

    /// Judges a whole request head: the method, which must be POST, and then the headers. For
    /// adapters that are mounted on every method.
    ///
    /// # Errors
    ///
    /// Any other method (405); otherwise as [`open`](Self::open).
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json")];
    /// assert!(receiver.open_request("POST", &headers).is_ok());
    ///
    /// let refused = receiver.open_request("GET", &headers).unwrap_err();
    /// assert_eq!(refused.answer().status(), 405);
    /// assert!(refused.answer().headers().any(|header| header == ("allow", "POST")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_request(
        &self,
        method: &str,
        headers: &(impl Headers + ?Sized),
    ) -> Result<Envelope, Refused> {
        if method != "POST" {
            return self.door(headers, |_| Err(Rejection::MethodNotPost));
        }
        self.open(headers)
    }

    /// Accepts these targets from the next request on, in every clone, and no others: a removed
    /// token is refused at once.
    ///
    /// The service may still retry with the old token for 370 seconds, so when a token is replaced,
    /// accept both for at least 15 minutes.
    ///
    /// ```
    /// use article_webhook::{AuthToken, Receiver, Targets};
    ///
    /// let receiver = Receiver::new(AuthToken::new("Bearer old-5f2b9c0e7a1d")?);
    /// let old = [("Authorization", "Bearer old-5f2b9c0e7a1d"), ("Content-Type", "application/json")];
    /// assert!(receiver.open(&old).is_ok());
    ///
    /// receiver.replace_targets(AuthToken::new("Bearer new-a84be02f71c6")?);
    /// assert_eq!(receiver.open(&old).unwrap_err().answer().status(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replace_targets(&self, targets: impl Into<Targets>) {
        let targets = targets.into().0;
        targets.iter().for_each(log::short_token);
        // A poisoned lock holds whole targets all the same: the value is replaced in one step.
        *self.0.targets.write().unwrap_or_else(PoisonError::into_inner) = targets.into();
    }

    /// The most bytes a body may have.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// assert_eq!(receiver.body_limit(), 8_388_608);
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    #[must_use]
    pub fn body_limit(&self) -> usize {
        self.0.settings.body_limit
    }

    /// How long a sink may take before the service is told to come again.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// assert_eq!(receiver.sink_deadline().as_secs(), 5);
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    #[must_use]
    pub fn sink_deadline(&self) -> Duration {
        self.0.settings.sink_deadline
    }

    pub(crate) fn log_refusal(&self, refused: &Refused, now: SystemTime) {
        self.0.refusals.log(refused, now);
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// What both doors share: `admit` decides who comes in, the rest is the same for all.
    pub(crate) fn door(
        &self,
        headers: &(impl Headers + ?Sized),
        admit: impl FnOnce(&Self) -> Result<(Arc<str>, Option<Box<str>>), Rejection>,
    ) -> Result<Envelope, Refused> {
        let declared = declared_length(headers);
        let leftover = || {
            let expects = headers.values("expect").next().is_some();
            let limit = self.settings().body_limit;
            Leftover::new(declared, limit, expects)
        };
        let (target, intent) =
            admit(self).map_err(|rejection| Refused::new(rejection, None, leftover()))?;
        let job_id = self.job_id(headers);
        let (event, declared) = self.judge(headers, &job_id, declared).map_err(|rejection| {
            Refused::new(rejection, job_id.clone().ok().flatten(), leftover())
        })?;
        Ok(Envelope {
            receiver: self.clone(),
            target,
            intent,
            event,
            job_id: job_id.ok().flatten(),
            declared,
        })
    }

    /// The target whose token was presented. Looks at every token, whichever matches.
    fn authenticate(&self, presented: &[u8]) -> Result<Arc<str>, Rejection> {
        // The lock is held for as long as it takes to clone the `Arc`, not while comparing.
        let targets = Arc::clone(&self.0.targets.read().unwrap_or_else(PoisonError::into_inner));
        let mut found = u64::MAX;
        for (index, target) in (0..).zip(targets.iter()) {
            found.conditional_assign(&index, target.token.matches(presented));
        }
        let target = usize::try_from(found).ok().and_then(|index| targets.get(index));
        let target = target.ok_or(Rejection::AuthorizationWrong)?;
        Ok(Arc::clone(&target.label))
    }

    /// The order is that of the table of answers.
    fn judge(
        &self,
        headers: &(impl Headers + ?Sized),
        job_id: &Result<Option<JobId>, Rejection>,
        declared: Result<Option<u64>, Rejection>,
    ) -> Result<(Option<Event>, Option<u64>), Rejection> {
        let settings = &self.0.settings;
        if !is_json(headers) {
            return Err(Rejection::ContentType);
        }
        if !is_plain(headers) {
            return Err(Rejection::ContentEncoding);
        }
        let event = single(headers, settings.event_header.as_str())
            .map_err(|Repeated| Rejection::HeaderRepeated(ServiceHeader::Event))?
            .map(|value| Event::from_header(value).ok_or(Rejection::EventInvalid))
            .transpose()?;
        let has_job_id = job_id.as_ref().map_err(|&rejection| rejection)?.is_some();
        if settings.strict && event.is_none() {
            return Err(Rejection::HeaderMissing(ServiceHeader::Event));
        }
        if settings.strict && !has_job_id {
            return Err(Rejection::HeaderMissing(ServiceHeader::JobId));
        }
        let limit = settings.body_limit;
        let declared = declared?;
        if declared.is_some_and(|length| length > limit as u64) {
            return Err(Rejection::TooLarge { limit });
        }
        Ok((event, declared))
    }

    fn job_id(&self, headers: &(impl Headers + ?Sized)) -> Result<Option<JobId>, Rejection> {
        let value = single(headers, self.0.settings.job_id_header.as_str())
            .map_err(|Repeated| Rejection::HeaderRepeated(ServiceHeader::JobId))?;
        value
            .map(|value| std::str::from_utf8(value).ok().and_then(|id| id.parse().ok()))
            .map(|id| id.ok_or(Rejection::InvalidJobId))
            .transpose()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let targets = self.0.targets.read().unwrap_or_else(PoisonError::into_inner);
        let labels: Vec<_> = targets.iter().map(|target| &target.label).collect();
        f.debug_struct("Receiver")
            .field("targets", &labels)
            .field("body_limit", &self.0.settings.body_limit)
            .finish_non_exhaustive()
    }
}
