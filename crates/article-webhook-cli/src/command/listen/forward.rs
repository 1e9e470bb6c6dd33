//! Passes stored deliveries on to an application.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use article_inbox::{Failed, Inbox, Job, Worker};
use article_webhook::fixture::DeliveryRequest;
use reqwest::Url;
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    calls::Deliverer,
    failure::Failure,
    output::{Output, Tone},
    text::escape,
    text::moment,
};

/// Service document, section 6.2: the pauses after the first, the second and the third attempt.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(10), Duration::from_secs(60), Duration::from_secs(300)];

/// How long a delivery waits for an application that does not answer.
const ABSENCE: Duration = Duration::from_secs(2);

struct Forwarding {
    deliverer: Deliverer,
    to: Url,
    token: Zeroizing<String>,
    output: Output,
    is_absent: AtomicBool,
}

/// One after the other, in the order of their arrival, as far as the application takes them.
pub(super) fn worker(
    inbox: &Inbox,
    to: Url,
    token: Zeroizing<String>,
    output: &Output,
) -> Result<Worker, Failure> {
    let forwarding = Arc::new(Forwarding {
        deliverer: Deliverer::new()?,
        to,
        token,
        output: output.clone(),
        is_absent: AtomicBool::new(false),
    });
    let handler = move |job| {
        let forwarding = Arc::clone(&forwarding);
        async move { forwarding.pass_on(&job).await }
    };
    let attempts = u32::try_from(PAUSES.len()).unwrap_or(u32::MAX) + 1;
    Ok(inbox.worker(handler).concurrency(1).attempts(attempts))
}

impl Forwarding {
    async fn pass_on(&self, job: &Job) -> Result<(), Failed> {
        let request = DeliveryRequest::new(job.body().clone())
            .token(&self.token)
            .header("X-Service-Event", job.event().as_str())
            .header("X-Service-Job-Id", job.job_id().as_str());
        let start = Instant::now();
        let answer = self.deliverer.deliver(&self.to, &request).await;
        let took = start.elapsed().as_millis();
        let status = match answer {
            Ok(answer) => answer.status(),
            Err(why) => {
                // Said once, until the application answers again.
                if !self.is_absent.swap(true, Ordering::Relaxed) {
                    let text = format!("the application does not answer: {why}; deliveries wait");
                    self.show(job, None, Tone::Bad, &text);
                }
                return Err(Failed::snooze(ABSENCE));
            }
        };
        self.is_absent.store(false, Ordering::Relaxed);
        let answer = Some(status.as_u16());
        if status.is_success() {
            self.show(
                job,
                answer,
                Tone::Good,
                &format!("forwarded: {} in {took} ms", status.as_u16()),
            );
            return Ok(());
        }
        let cause = format!("the application answered {}", status.as_u16());
        let pause = usize::try_from(job.attempt()).ok().and_then(|attempt| PAUSES.get(attempt - 1));
        let Some(pause) = pause else {
            self.show(job, answer, Tone::Bad, &format!("{cause}: given up, see `inbox requeue`"));
            return Err(Failed::dead(cause));
        };
        self.show(job, answer, Tone::Bad, &format!("{cause}: again in {}", moment::span(*pause)));
        Err(Failed::retry_after(cause, *pause))
    }

    /// The output may be closed, which the next delivery notices. What is forwarded is forwarded.
    fn show(&self, job: &Job, status: Option<u16>, tone: Tone, text: &str) {
        let id = job.job_id().as_str();
        let value =
            json!({ "forwarded": id, "status": status, "attempt": job.attempt(), "text": text });
        let line =
            format!("{}  {}", escape::line(id), self.output.paint(tone, &escape::line(text)));
        let _ = self.output.either(&value, &line);
    }
}
