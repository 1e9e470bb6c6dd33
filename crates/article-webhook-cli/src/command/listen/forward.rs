//! Passes stored deliveries on to an application.

use std::{
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use article_webhook::{AuthToken, Receiver, fixture::DeliveryRequest};
use article_webhook_inbox::{EntryKey, Failed, Inbox, Job, Worker};
use article_webhook_simulator::pause_after;
use bytes::Bytes;
use clap::Args;
use reqwest::StatusCode;
use serde_json::json;

use super::{
    circuit_breaker::CircuitBreaker,
    job_order::{Turn, Turns},
};
use crate::{
    calls::{Deliverer, NoAnswer, RemoteArguments, WebUrl, beginning},
    failure::{Failure, SEE_HELP},
    output::{Output, Tone},
    store::Place,
    text::{escape, moment},
};

/// How many jobs are passed on at the same time.
const AT_ONCE: u32 = 8;

/// How long deliveries wait for an application that cannot be reached, between two tries.
const ABSENCE: Duration = Duration::from_secs(2);

/// How many bytes of a refusal are read. As many characters as one line has are shown.
const SHOWN: usize = 1000;

/// How long deliveries that are under way may take after Ctrl-C. What is cut off is passed on again.
const GRACE: Duration = Duration::from_secs(5);

/// How long it may take to store a delivery.
const STORING: Duration = Duration::from_secs(5);

/// The longest time that the application may be given: a worker wants to know when a handler is stuck.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, Args)]
pub(super) struct ForwardArguments {
    /// Forward the first body of each job and event to this URL of an application
    #[arg(long, value_name = "URL")]
    forward_to: Option<WebUrl>,
    /// How long the application may take to answer
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = forward_timeout, requires = "forward_to")]
    forward_timeout: Duration,
    /// The speed of retries after the application refused a delivery, as a multiple of the service's
    #[arg(long, value_name = "TIMES", default_value = "1", requires = "forward_to")]
    forward_speed: NonZeroU32,
    /// Forward the entries of an existing PostgreSQL inbox, although an application that works on it does not get
    /// them
    #[arg(long, requires = "forward_to")]
    take_over: bool,
    #[command(flatten)]
    remote: RemoteArguments,
}

fn forward_timeout(text: &str) -> Result<Duration, String> {
    match moment::age(text)? {
        time if time.is_zero() || time > MAX_TIMEOUT => Err("expected up to a day".to_owned()),
        time => Ok(time),
    }
}

pub(super) struct Forwarding {
    deliverer: Deliverer,
    to: WebUrl,
    token: AuthToken,
    headers: HeaderArguments,
    speed: NonZeroU32,
    output: Output,
    gate: CircuitBreaker,
    turns: Turns,
}

/// A delivery that is passed on, whether it is an article or not.
struct Stored {
    key: EntryKey,
    attempt: u32,
    body: Bytes,
}

impl Stored {
    fn of(job: &Job) -> Self {
        let key = EntryKey { job_id: job.job_id().clone(), event: job.event().clone() };
        Self { key, attempt: job.attempt(), body: job.body().clone() }
    }
}

impl ForwardArguments {
    /// Refuses an application on whose way others could read the token.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.forward_to.as_ref().map_or(Ok(()), |to| self.remote.allow(to.as_url()))
    }

    /// Refuses an inbox on which an application may work: what is passed on is done, and its worker does not get it.
    pub(super) async fn check_inbox(&self, place: &Place) -> Result<(), Failure> {
        if self.forward_to.is_none() || self.take_over || !place.may_have_workers_beside().await? {
            return Ok(());
        }
        let what = "the database has this inbox already: the workers of the application would not get what --forward-to forwards";
        Err(Failure::usage(what).fix(
            "name an inbox of your own, such as a file or ?schema=NAME; or add --take-over if no application works on it",
        ))
    }

    /// The way to the application. `None`: nothing is passed on.
    pub(super) fn forwarding(
        &self,
        inbox: &Inbox,
        token: AuthToken,
        headers: &HeaderArguments,
        output: &Output,
    ) -> Result<Option<Arc<Forwarding>>, Failure> {
        let Some(to) = self.forward_to.clone() else { return Ok(None) };
        Ok(Some(Arc::new(Forwarding {
            deliverer: Deliverer::new(self.forward_timeout)?,
            to,
            token,
            headers: headers.clone(),
            speed: self.forward_speed,
            output: output.clone(),
            gate: CircuitBreaker::new(ABSENCE),
            turns: Turns::new(inbox),
        })))
    }

    /// Passes on what the inbox has, in the order of its arrival, as far as the application takes it.
    pub(super) fn worker(&self, inbox: &Inbox, forwarding: Arc<Forwarding>) -> Worker {
        let pass_on = move |job: Job| {
            let (forwarding, stored) = (Arc::clone(&forwarding), Stored::of(&job));
            async move { forwarding.pass_on(&stored).await }
        };
        let last = (1..).find(|&attempt| pause_after(attempt).is_none());
        inbox
            .worker(pass_on.clone())
            .on_undecodable(pass_on)
            .concurrency(AT_ONCE)
            .attempts(last.unwrap_or(u8::MAX).into())
            .handler_timeout(2 * self.forward_timeout + 3 * ABSENCE)
            .shutdown_grace(GRACE)
    }

    /// How long the answer to a delivery may take that is passed on before it.
    pub(super) fn answer_deadline(&self) -> Duration {
        STORING + self.forward_to.as_ref().map_or(Duration::ZERO, |_| self.forward_timeout)
    }
}

impl Forwarding {
    /// Delivers to the application what no worker gets, and shows its answer. Whether it took it.
    pub(super) async fn pass_on_once(&self, key: EntryKey, body: Bytes) -> bool {
        let job = Stored { key, attempt: 1, body };
        let (answer, text) = match self.deliver(&job).await {
            Ok(answer) => (Some(answer), String::new()),
            Err(NoAnswer::Unreachable(why)) => {
                (None, format!("the application cannot be reached: {why}"))
            }
            Err(NoAnswer::Lost(why)) => (None, format!("the application did not answer: {why}")),
        };
        let text = answer.as_ref().map_or(text, Answered::text);
        let is_taken = answer.as_ref().is_some_and(|answer| answer.status.is_success());
        let tone = if is_taken { Tone::Good } else { Tone::Bad };
        self.show(&job, answer.as_ref(), tone, &text);
        is_taken
    }

    async fn deliver(&self, job: &Stored) -> Result<Answered, NoAnswer> {
        let request = DeliveryRequest::new(job.body.clone()).token(self.token.expose_secret());
        let request = self.headers.of(request, &job.key);
        let start = Instant::now();
        let answer = self.deliverer.deliver(self.to.as_url(), &request).await?;
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let status = answer.status();
        let body = match status.is_success() {
            true => None,
            false => Some(beginning(answer, SHOWN).await),
        };
        let body = body.map(|body| escape::cut(&String::from_utf8_lossy(&body)).into_owned());
        Ok(Answered { status, milliseconds, body: body.filter(|body| !body.is_empty()) })
    }

    async fn pass_on(&self, job: &Stored) -> Result<(), Failed> {
        // While the application is absent, one delivery tries it for all.
        let Some(pass) = self.gate.enter().await else { return Err(Failed::snooze(ABSENCE)) };
        // Behind the gate, so that what waits for its turn does not ask without a rest while the application is absent.
        self.turn(job).await?;
        let answer = match self.deliver(job).await {
            Ok(answer) => answer,
            Err(NoAnswer::Unreachable(why)) => {
                // Reported once, until the application answers again.
                if self.gate.close() {
                    let text = format!("the application cannot be reached: {why}; deliveries wait");
                    self.show(job, None, Tone::Bad, &text);
                }
                return Err(Failed::snooze(ABSENCE));
            }
            Err(NoAnswer::Lost(why)) => {
                self.gate.open();
                return Err(self.refused(
                    job,
                    None,
                    format!("the application did not answer: {why}"),
                ));
            }
        };
        self.gate.open();
        drop(pass);
        if !answer.status.is_success() {
            return Err(self.refused(job, Some(&answer), answer.text()));
        }
        self.show(job, Some(&answer), Tone::Good, &answer.text());
        Ok(())
    }

    /// Puts the delivery off while one that arrived earlier for its job has not ended. That costs no attempt.
    async fn turn(&self, job: &Stored) -> Result<(), Failed> {
        match self.turns.of(&job.key).await {
            Ok(Turn::Now) => Ok(()),
            Ok(Turn::Later { pause, is_new }) => {
                if is_new {
                    let text = "waits for what arrived before it for this job";
                    self.show(job, None, Tone::Quiet, text);
                }
                Err(Failed::snooze(pause))
            }
            // The worker says what is wrong with the inbox, if it lasts.
            Err(_) => Err(Failed::snooze(ABSENCE)),
        }
    }

    /// What the service would do now.
    fn refused(&self, job: &Stored, answer: Option<&Answered>, cause: String) -> Failed {
        let Some(pause) = u8::try_from(job.attempt).ok().and_then(pause_after) else {
            let text = format!("{cause}: dead, see `inbox requeue`");
            self.show(job, answer, Tone::Bad, &text);
            return Failed::dead(cause);
        };
        let pause = pause / self.speed.get();
        let text = format!("{cause}: again in {}", moment::span(pause));
        self.show(job, answer, Tone::Bad, &text);
        Failed::retry_after(cause, pause)
    }

    fn show(&self, job: &Stored, answer: Option<&Answered>, tone: Tone, text: &str) {
        let id = job.key.job_id.as_str();
        let body = answer.and_then(|answer| answer.body.as_deref());
        let value = json!({
            "forwarded": id,
            "status": answer.map(|answer| answer.status.as_u16()),
            "milliseconds": answer.map(|answer| answer.milliseconds),
            "bytes": job.body.len(),
            "attempt": job.attempt,
            "text": text,
            "body": body,
        });
        let body = body.map(|body| format!("\n  its answer: {}", escape::line(body)));
        let line = format!(
            "{}  {}  {}{}",
            moment::time_of_day(SystemTime::now()),
            escape::line(id),
            self.output.paint(tone, &escape::line(text)),
            body.unwrap_or_default(),
        );
        // A queued line is no failure.
        let _ = self.output.either("forward", &value, &line);
    }
}

/// What the application answered.
struct Answered {
    status: StatusCode,
    milliseconds: u64,
    /// The beginning of the body, if it refused.
    body: Option<String>,
}

impl Answered {
    fn text(&self) -> String {
        let status = self.status.as_u16();
        match self.status.is_success() {
            true => format!("forwarded: {status} in {} ms", self.milliseconds),
            false => format!("the application answered {status}"),
        }
    }
}

const EVENT: &str = "X-Service-Event";
const JOB_ID: &str = "X-Service-Job-Id";

/// The names of the headers with the event and the job id, of what is received and of what is passed on.
#[derive(Debug, Clone, Args)]
pub(super) struct HeaderArguments {
    /// The header with the event
    #[arg(long, value_name = "NAME", default_value = EVENT)]
    event_header: String,
    /// The header with the job id
    #[arg(long, value_name = "NAME", default_value = JOB_ID)]
    job_id_header: String,
}

impl HeaderArguments {
    /// A receiver that reads them, and answers within this time.
    pub(super) fn receiver(
        &self,
        token: AuthToken,
        deadline: Duration,
    ) -> Result<Receiver, Failure> {
        let receiver = Receiver::builder(token)
            .answer_deadline(deadline)
            .event_header(&self.event_header)
            .job_id_header(&self.job_id_header);
        receiver.build().map_err(|error| Failure::of_setting(&error.to_string(), SEE_HELP))
    }

    /// A delivery that has them.
    pub(super) fn of(&self, request: DeliveryRequest, key: &EntryKey) -> DeliveryRequest {
        request
            .without_header(EVENT)
            .without_header(JOB_ID)
            .header(&self.event_header, key.event.as_str())
            .header(&self.job_id_header, key.job_id.as_str())
    }
}
