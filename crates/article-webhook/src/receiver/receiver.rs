use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use super::{
    Envelope, Headers, ReceiverBuilder,
    body_budget::{BodyBudget, BudgetReservation},
    content_headers::{check_content_type, declared_length, is_unencoded},
    envelope::Sender,
    headers::{Repeated, single},
    runs::Runs,
    settings::Settings,
};
use crate::{
    answer::{Presented, Refused, Rejection, ServiceHeader, UnreadBody},
    article::{Event, JobId},
    auth::{AcceptedTargets, AuthToken, Targets, TokenError, TokenShape, labels},
    causes::escaped,
    log,
};

/// Decides from the headers alone whether a request is a delivery of the service.
///
/// A receiver knows the accepted tokens, the limits of bodies and the names of the headers. It always has
/// at least one token. A clone is cheap and shares the tokens and the budget of bodies with its original.
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
    targets: RwLock<Arc<AcceptedTargets>>,
    body_budget: Arc<BodyBudget>,
    settings: Settings,
    refusals: log::Refusals,
    seen_drift: log::SeenDrift,
    runs: Runs,
}

impl Receiver {
    /// A receiver with default settings. A single token becomes the target `default`.
    #[must_use]
    pub fn new(targets: impl Into<Targets>) -> Self {
        Self::from_parts(targets.into(), Settings::default())
    }

    /// A receiver with default settings for one target, `default`, whose token is in the environment variable `name`.
    /// For several targets see [`Targets::from_env`].
    ///
    /// ```no_run
    /// use article_webhook::Receiver;
    ///
    /// let receiver = Receiver::from_env("ARTICLE_WEBHOOK_TOKEN")?;
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`AuthToken::from_env`]: the message names the variable and the fix. For a variable that is not set it has
    /// the command that makes a token.
    pub fn from_env(name: &str) -> Result<Self, TokenError> {
        AuthToken::from_env(name).map(Self::new)
    }

    /// A receiver with other settings.
    pub fn builder(targets: impl Into<Targets>) -> ReceiverBuilder {
        ReceiverBuilder::new(targets.into())
    }

    pub(crate) fn from_parts(targets: Targets, settings: Settings) -> Self {
        Self(Arc::new(Shared {
            targets: RwLock::new(accepted(targets)),
            body_budget: BodyBudget::new(settings.body_budget),
            runs: Runs::new(settings.join_limit, settings.remember_for),
            settings,
            refusals: log::Refusals::default(),
            seen_drift: log::SeenDrift::default(),
        }))
    }

    /// Checks the headers of a request. It does not need the body, so an unauthenticated request is
    /// refused before its body is read.
    ///
    /// # Errors
    ///
    /// In this order: `Authorization` is not one accepted token (401); `Content-Type` is not
    /// `application/json` in UTF-8, or the body is encoded (415); a header of the service is
    /// repeated, invalid or, under [`strict`](ReceiverBuilder::strict), missing (400); the body has no
    /// single length (400), or its declared length is over the limit (413).
    pub fn open(&self, headers: &(impl Headers + ?Sized)) -> Result<Envelope, Refused> {
        self.open_with(headers, |receiver| receiver.authenticate(headers))
    }

    /// Checks the head of a request: the method, which must be POST, and then the headers. For adapters
    /// that are mounted on every method.
    ///
    /// # Errors
    ///
    /// Any other method (405); otherwise the errors of [`open`](Self::open).
    pub fn open_request(
        &self,
        method: &str,
        headers: &(impl Headers + ?Sized),
    ) -> Result<Envelope, Refused> {
        self.open_with(headers, |receiver| {
            require_post(method)?;
            receiver.authenticate(headers)
        })
    }

    /// Accepts these targets and no others, from the next request on and in every clone.
    ///
    /// The service may still retry with the old token for 370 seconds. To replace a token, accept both
    /// the old and the new one for at least 15 minutes.
    pub fn replace_targets(&self, targets: impl Into<Targets>) {
        let targets = accepted(targets.into());
        // A poisoned lock still holds complete targets: the value is replaced in one step.
        *self.0.targets.write().unwrap_or_else(PoisonError::into_inner) = targets;
    }

    /// The maximum length of a body in bytes.
    #[must_use]
    pub fn body_limit(&self) -> usize {
        self.0.settings.body_limit.0
    }

    /// How long a body may take to arrive before the answer is 408.
    #[must_use]
    pub fn body_deadline(&self) -> Duration {
        self.0.settings.body_deadline
    }

    /// How long a sink, or a handler under the adapter's layer, may take before the answer is 503.
    #[must_use]
    pub fn answer_deadline(&self) -> Duration {
        self.0.settings.answer_deadline
    }

    /// Waits until no handler runs under the adapter's layer of this receiver and its clones. Handlers outlive their
    /// requests, so wait for them after the server has stopped, within the time that the process is given to end; on actix-web
    /// before `ServerHandle::stop`, which drops them.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # async fn stop(receiver: Receiver) {
    /// // after `axum::serve(…).with_graceful_shutdown(…).await`
    /// receiver.handlers_ended().await;
    /// # }
    /// # use std::{pin::pin, task::{Context, Waker}};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # assert!(pin!(stop(receiver)).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    pub async fn handlers_ended(&self) {
        self.0.runs.ended().await;
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    pub(crate) fn log_refusal(&self, refused: &Refused, now: SystemTime) {
        self.0.refusals.log(refused, now, &self.targets());
    }

    /// The checks of every request, in the order of [`guide::flow`](crate::guide::flow#order-of-the-checks):
    /// `authenticate` checks the method, where that is needed, and the sender. The other headers follow.
    pub(super) fn open_with(
        &self,
        headers: &(impl Headers + ?Sized),
        authenticate: impl FnOnce(&Self) -> Result<Sender, Rejection>,
    ) -> Result<Envelope, Refused> {
        let settings = &self.0.settings;
        let declared = declared_length(headers);
        let unread_body = || match headers.values("expect").next() {
            Some(_) => UnreadBody::Unsent, // `Expect: 100-continue`
            None => UnreadBody::by_length(&declared, settings.body_limit.0),
        };
        let sender = authenticate(self).map_err(|rejection| {
            let wrong = matches!(rejection, Rejection::AuthorizationWrong);
            let presented = wrong.then(|| headers.values("authorization").next()).flatten();
            Refused::new(rejection, None, unread_body())
                .presenting(presented.map(TokenShape::of_presented).map(Presented::Token))
        })?;
        let job_id = self.job_id(headers);
        let known_job_id = job_id.as_ref().ok().cloned().flatten();
        let (event, declared) =
            self.check_headers(headers, &job_id, declared.clone()).map_err(|rejection| {
                let presented = presented(&rejection, headers);
                Refused::new(rejection, known_job_id.clone(), unread_body())
                    .of_intent(sender.intent())
                    .presenting(presented)
            })?;
        Ok(Envelope {
            body_limit: settings.body_limit,
            reservation: BudgetReservation::new(&self.0.body_budget),
            unknown_events: settings.unknown_events,
            sender,
            event,
            job_id: known_job_id,
            declared,
            seen_drift: self.0.seen_drift.clone(),
        })
    }

    /// The target whose token was presented.
    fn authenticate(&self, headers: &(impl Headers + ?Sized)) -> Result<Sender, Rejection> {
        let presented = single(headers, "authorization")
            .map_err(|Repeated| Rejection::AuthorizationRepeated)?
            .ok_or(Rejection::AuthorizationMissing)?;
        let targets = self.targets();
        let index = targets.find(presented).ok_or(Rejection::AuthorizationWrong)?;
        Ok(Sender::Target { targets, index })
    }

    /// The lock is held while the `Arc` is cloned, not while tokens are compared.
    fn targets(&self) -> Arc<AcceptedTargets> {
        Arc::clone(&self.0.targets.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn check_headers(
        &self,
        headers: &(impl Headers + ?Sized),
        job_id: &Result<Option<JobId>, Rejection>,
        declared: Result<Option<u64>, Rejection>,
    ) -> Result<(Option<Event>, Option<u64>), Rejection> {
        let settings = &self.0.settings;
        check_content_type(headers)?;
        if !is_unencoded(headers) {
            return Err(Rejection::ContentEncoding);
        }
        let event = single(headers, settings.event_header.as_str())
            .map_err(|Repeated| Rejection::HeaderRepeated(ServiceHeader::Event))?
            .map(|value| Event::from_header(value).ok_or(Rejection::EventInvalid))
            .transpose()?;
        let has_job_id = job_id.as_ref().map_err(Rejection::clone)?.is_some();
        if settings.strict && event.is_none() {
            return Err(Rejection::HeaderMissing(ServiceHeader::Event));
        }
        if settings.strict && !has_job_id {
            return Err(Rejection::HeaderMissing(ServiceHeader::JobId));
        }
        let declared = declared?;
        settings.body_limit.check(declared.unwrap_or(0))?;
        Ok((event, declared))
    }

    fn job_id(&self, headers: &(impl Headers + ?Sized)) -> Result<Option<JobId>, Rejection> {
        let value = single(headers, self.0.settings.job_id_header.as_str())
            .map_err(|Repeated| Rejection::HeaderRepeated(ServiceHeader::JobId))?;
        value.map(JobId::from_header).transpose().map_err(Rejection::HeaderJobIdInvalid)
    }
}

/// What the log shows of the header that was refused. Only of an authentic sender's.
fn presented(rejection: &Rejection, headers: &(impl Headers + ?Sized)) -> Option<Presented> {
    const LIMIT: usize = 100; // bytes
    let name = match rejection {
        Rejection::ContentTypeRepeated
        | Rejection::ContentTypeWrong
        | Rejection::ContentTypeCharset => "content-type",
        Rejection::ContentEncoding => "content-encoding",
        _ => return None,
    };
    let values: Vec<_> = headers.values(name).map(String::from_utf8_lossy).collect();
    Some(Presented::Header(escaped(&values.join(", "), LIMIT).into()))
}

fn accepted(targets: Targets) -> Arc<AcceptedTargets> {
    let targets = AcceptedTargets::from(targets);
    targets.iter().for_each(log::doubtful_token);
    Arc::new(targets)
}

/// The only place that refuses a request for its method (405).
pub(super) fn require_post(method: &str) -> Result<(), Rejection> {
    if method == "POST" { Ok(()) } else { Err(Rejection::MethodNotPost) }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("targets", &labels(self.targets().iter()))
            .field("body_limit", &self.body_limit())
            .finish_non_exhaustive()
    }
}
