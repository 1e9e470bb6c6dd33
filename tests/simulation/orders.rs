//! What was ordered, and what was reported to the callers.

use std::time::Duration;

use article_webhook_collector::OrderOutcome;

use crate::{node::Process, observed::Observed};

/// The calls that order, of one intent.
#[derive(Debug, Default)]
pub(crate) struct OrderCalls {
    /// Those that the service took, or of which no answer came.
    open: u32,
    /// How many calls were sent because the application asked to order again.
    again: u32,
    /// It has asked, and no call was sent since.
    is_asked_again: bool,
    /// How many were sent.
    sent: u32,
    /// Whether the service took the last one.
    last_is_taken: bool,
}

impl Observed {
    /// The application asks to order this intent, although an earlier call may have.
    pub(crate) fn again(&mut self, intent: &str) {
        self.calls.entry(intent.to_owned()).or_default().is_asked_again = true;
    }

    /// A call that orders is sent.
    pub(crate) fn order_sent(
        &mut self,
        process: &Process,
        intent: &str,
        now: Duration,
    ) -> Result<(), String> {
        let calls = self.calls.entry(intent.to_owned()).or_default();
        if std::mem::take(&mut calls.is_asked_again) && calls.sent > 0 {
            calls.again += 1;
        }
        (calls.open, calls.sent, calls.last_is_taken) = (calls.open + 1, calls.sent + 1, false);
        let (open, again) = (calls.open, calls.again);
        if open > 1 + again {
            return Err(format!("{intent} is ordered twice"));
        }
        self.rate.sent(process, now)
    }

    /// The service takes the order of the last call.
    pub(crate) fn order_taken(&mut self, intent: &str) {
        self.calls.entry(intent.to_owned()).or_default().last_is_taken = true;
    }

    /// How many calls were sent that order this intent.
    pub(crate) fn orders_sent(&self, intent: &str) -> u32 {
        self.calls.get(intent).map(|calls| calls.sent).unwrap_or_default()
    }

    /// The caller got this outcome of an order. `before`: how many calls were sent before it.
    pub(crate) fn reported(
        &self,
        intent: &str,
        before: u32,
        outcome: &OrderOutcome,
    ) -> Result<(), String> {
        let job = outcome.job_id();
        if let Some(job) =
            job.filter(|job| self.taken.get(job.as_str()).is_none_or(|of| of != intent))
            // Nothing distinguishes it from the one that was ordered.
            && !self.forgeries.is_forged_for(job.as_str(), intent)
        {
            return Err(format!("{intent} is reported as {job}, which is not its job"));
        }
        let is_refused = matches!(outcome, OrderOutcome::Refused(_));
        // Several callers may order the same intent.
        let is_last = self.orders_sent(intent) == before + 1;
        let is_taken = self.calls.get(intent).is_some_and(|calls| calls.last_is_taken);
        match is_refused && is_last && is_taken {
            true => Err(format!("{intent} is reported as refused, and the service took it")),
            false => Ok(()),
        }
    }

    /// An answer came, or no connection, and the service has not taken the order.
    pub(crate) fn order_refused(&mut self, intent: &str) {
        let calls = self.calls.entry(intent.to_owned()).or_default();
        calls.open = calls.open.saturating_sub(1);
    }
}
