use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::DecodeError;
use article_webhook_client::CallOutcome;
use article_webhook_inbox::store::{self, PollClaim, PollOutcome, PollSettled};
use tokio::{select, sync::watch, time::timeout};

use crate::{
    call_start::CallStart,
    catch_panic::catch_panic,
    classify::{Meaning, NoAnswer, Polled},
    shared::{Shared, TOKEN_VALIDITY, repeat},
    telemetry,
};

/// How long the store may take to keep the outcome of a poll.
const STORE_TIMEOUT: Duration = Duration::from_secs(30);

/// A signal of the loop to its polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    /// Poll.
    Go,
    /// Begin no call.
    Release,
    /// End the call.
    Cancel,
}

/// The claim of polls. Their leases are longer than a call may take.
pub(super) fn claim_of(shared: &Shared, limit: u32) -> PollClaim {
    PollClaim { limit, lease: lease(shared), bucket: shared.bucket() }
}

fn lease(shared: &Shared) -> Duration {
    TOKEN_VALIDITY + shared.call_limit() + STORE_TIMEOUT
}

/// Polls one job, and stores the outcome. `claimed` is when the call began that claimed it. Nothing that happens here
/// ends another poll. Returns the pause after which the job is due again, if it is.
pub(super) async fn poll(
    shared: Arc<Shared>,
    poll: store::Poll,
    claimed: CallStart,
    signal: watch::Receiver<Signal>,
) -> Option<Duration> {
    let (ends, began) = (poll.job.at, shared.began());
    // If the clock was set back since the claim, the age of the token is not known.
    let is_fresh = began.store_time <= ends - lease(&shared) + TOKEN_VALIDITY
        && !began.is_set_back_since(claimed);
    let key = shared.api.key_fingerprint();
    // A poll that was claimed beside this one may have been answered with a pause.
    let is_paused = shared.unstored_pause().is_some();
    if !is_fresh {
        shared.token_lost();
    }
    if !is_fresh || is_paused || *signal.borrow() != Signal::Go {
        return settle(&shared, &poll, PollOutcome::Released, key, None).await;
    }
    let answer = answer(&shared, &poll, signal).await;
    // By the clock of the claim: it may have been set since.
    let expected_for = expected_for(&poll, began.store_time);
    let pause = shared.settings.schedule.pause(&poll.job, expected_for, fastrand::f64());
    let polled = Polled { job: &poll.job, pause, began: began.store_time, key };
    let Meaning { outcome, event, quarantine, name } = match &answer {
        Ok(response) => polled.meaning(response, &mut shared.key_watch()),
        Err(why) => polled.without_answer(why),
    };
    telemetry::polled(&poll.job, name, began.instant.elapsed());
    if let Some(event) = event {
        // A pause that is not stored even so is stored before the next claim.
        _ = shared.report(shared.answered(event), || is_over(&shared, ends)).await;
    }
    if let (Ok(response), Some(cause)) = (&answer, quarantine) {
        shared.inbox.keep_answer(&poll.job.job_id, &response.body, cause).await;
    }
    let undecodable = answer.as_ref().ok().and_then(|response| match &response.outcome {
        CallOutcome::Undecodable(error) if response.names_the_job() => Some(error),
        _ => None,
    });
    settle(&shared, &poll, outcome, key, undecodable).await
}

/// The answer of the API, if it comes in time and reading it does not panic.
async fn answer(
    shared: &Shared,
    poll: &store::Poll,
    mut signal: watch::Receiver<Signal>,
) -> Result<article_webhook_client::Response, NoAnswer> {
    let call = catch_panic(async { shared.api.poll(&poll.job.job_id).await });
    let call = timeout(shared.call_limit(), call);
    select! {
        biased;
        answer = call => match answer {
            Ok(Ok(answer)) => answer.map_err(NoAnswer::Failed),
            Ok(Err(_)) => Err(NoAnswer::Panicked),
            Err(_) => Err(NoAnswer::Late),
        },
        // An error: the loop is gone, and this task ends with it.
        _ = signal.wait_for(|signal| *signal == Signal::Cancel) => Err(NoAnswer::Stopped),
    }
}

/// Stores the outcome. While the store fails, it is tried again until the lease ends. Then the job is due again. Returns
/// the pause that was stored. `undecodable`: why what the API answered cannot be decoded.
async fn settle(
    shared: &Shared,
    poll: &store::Poll,
    outcome: PollOutcome,
    key: u64,
    undecodable: Option<&DecodeError>,
) -> Option<Duration> {
    let is_late = || is_over(shared, poll.job.at);
    let call = || shared.ledger.settle_poll(poll.lease, outcome.clone(), key);
    let settled = repeat("settle_poll", is_late, call).await;
    if matches!(outcome, PollOutcome::Answered(_) | PollOutcome::Failed { .. }) {
        // Also if the lease is lost: an earlier call may have stored the outcome, and its answer was lost.
        shared.inbox.wake();
    }
    match settled {
        Ok(settled @ (PollSettled::Settled(state) | PollSettled::OtherHandled { state, .. })) => {
            if let PollSettled::OtherHandled { other, .. } = settled {
                telemetry::article_of_no_order_handled(&other);
            }
            let expected_for = expected_for(poll, shared.ledger.now());
            telemetry::settled(&poll.job, &outcome, undecodable, state, expected_for);
            pause_of(&outcome)
        }
        Ok(PollSettled::LostLease) => {
            telemetry::lost_lease(&poll.job);
            None
        }
        // It is logged, and the lease ends by itself.
        Err(_) => None,
    }
}

/// The pause after which the job of a poll is due again. `None` if it has ended.
fn pause_of(outcome: &PollOutcome) -> Option<Duration> {
    match outcome {
        PollOutcome::Unfinished { after, .. }
        | PollOutcome::Unconfirmed { after, .. }
        | PollOutcome::Rejected { after, .. }
        | PollOutcome::Missing { after, .. }
        | PollOutcome::Again { after, .. } => Some(*after),
        PollOutcome::Released => Some(Duration::ZERO),
        PollOutcome::Answered(_) | PollOutcome::Failed { .. } | PollOutcome::NotFound { .. } => {
            None
        }
    }
}

fn expected_for(poll: &store::Poll, now: SystemTime) -> Duration {
    now.duration_since(poll.job.expected_at).unwrap_or_default()
}

fn is_over(shared: &Shared, ends: SystemTime) -> bool {
    ends <= shared.ledger.now()
}
