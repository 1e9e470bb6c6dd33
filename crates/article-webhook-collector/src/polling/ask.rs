use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::DecodeError;
use article_webhook_client::CallOutcome;
use article_webhook_inbox::store::{self, AskClaim, AskOutcome, AskSettled};
use tokio::{select, sync::watch, time::timeout};

use crate::{
    catch_panic::catch_panic,
    classify::{Asked, CallStart, Meaning, NoAnswer},
    shared::{Shared, TOKEN_VALID, repeat},
    telemetry,
};

/// How long the store may take to keep the outcome of an ask.
const SLACK: Duration = Duration::from_secs(30);

/// What the loop tells its asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    /// Ask.
    Go,
    /// Begin no call.
    Release,
    /// End the call.
    Cancel,
}

/// The claim of asks. Their leases are longer than a call may take.
pub(super) fn claim_of(shared: &Shared, limit: u32) -> AskClaim {
    AskClaim { limit, lease: lease(shared), bucket: shared.bucket() }
}

fn lease(shared: &Shared) -> Duration {
    TOKEN_VALID + shared.call_limit() + SLACK
}

/// Asks for one job, and stores the outcome. `claimed` is when the call began that claimed it. Nothing that happens here
/// ends another ask. Returns the pause after which the job is due again, if it is.
pub(super) async fn ask(
    shared: Arc<Shared>,
    ask: store::Ask,
    claimed: CallStart,
    signal: watch::Receiver<Signal>,
) -> Option<Duration> {
    let (ends, began) = (ask.job.at, shared.began());
    // If the clock was set back since the claim, the age of the token is not known.
    let is_fresh = began.store_time <= ends - lease(&shared) + TOKEN_VALID
        && !began.is_set_back_since(claimed);
    let key = shared.api.key_fingerprint();
    // An ask that was claimed beside this one may have been answered with a pause.
    let is_paused = shared.unstored_pause().is_some();
    if !is_fresh {
        shared.token_lost();
    }
    if !is_fresh || is_paused || *signal.borrow() != Signal::Go {
        return settle(&shared, &ask, AskOutcome::Released, key, None).await;
    }
    shared.key_watch().begins(began);
    let answer = answer(&shared, &ask, signal).await;
    // By the clock of the claim: it may have been set since.
    let expected_for = expected_for(&ask, began.store_time);
    let pause = shared.settings.schedule.pause(&ask.job, expected_for, fastrand::f64());
    let asked = Asked { job: &ask.job, pause, began, key };
    let Meaning { outcome, event, name } = match &answer {
        Ok(response) => asked.meaning(response, &mut shared.key_watch()),
        Err(why) => asked.without_answer(why),
    };
    telemetry::asked(&ask.job, name, began.instant.elapsed());
    if let Some(event) = event {
        // A pause that is not stored even so is stored before the next claim.
        _ = shared.report(shared.answered(event), || is_over(&shared, ends)).await;
    }
    let undecodable = answer.as_ref().ok().and_then(|response| match &response.outcome {
        CallOutcome::Undecodable(error) if response.names_the_job() => Some(error),
        _ => None,
    });
    settle(&shared, &ask, outcome, key, undecodable).await
}

/// The answer of the API, if it comes in time and reading it does not panic.
async fn answer(
    shared: &Shared,
    ask: &store::Ask,
    mut signal: watch::Receiver<Signal>,
) -> Result<article_webhook_client::Response, NoAnswer> {
    let call = catch_panic(async { shared.api.ask(&ask.job.job_id).await });
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
    ask: &store::Ask,
    outcome: AskOutcome,
    key: u64,
    undecodable: Option<&DecodeError>,
) -> Option<Duration> {
    let is_late = || is_over(shared, ask.job.at);
    let call = || shared.ledger.settle_ask(ask.lease, outcome.clone(), key);
    let settled = repeat("settle_ask", is_late, call).await;
    if matches!(outcome, AskOutcome::Answered(_) | AskOutcome::Failed { .. }) {
        // Also if the lease is lost: an earlier call may have stored the outcome, and its answer was lost.
        shared.inbox.wake();
    }
    match settled {
        Ok(AskSettled::Settled(state)) => {
            let expected_for = expected_for(ask, shared.ledger.now());
            telemetry::settled(&ask.job, &outcome, undecodable, state, expected_for);
            pause_of(&outcome)
        }
        Ok(AskSettled::LostLease) => {
            telemetry::lost_lease(&ask.job);
            None
        }
        // It is logged, and the lease ends by itself.
        Err(_) => None,
    }
}

/// The pause after which the job of an ask is due again. `None` if it has ended.
fn pause_of(outcome: &AskOutcome) -> Option<Duration> {
    match outcome {
        AskOutcome::Unfinished { after }
        | AskOutcome::Missing { after, .. }
        | AskOutcome::Again { after, .. } => Some(*after),
        AskOutcome::Released => Some(Duration::ZERO),
        AskOutcome::Answered(_) | AskOutcome::Failed { .. } | AskOutcome::NotFound { .. } => None,
    }
}

fn expected_for(ask: &store::Ask, now: SystemTime) -> Duration {
    now.duration_since(ask.job.expected_at).unwrap_or_default()
}

fn is_over(shared: &Shared, ends: SystemTime) -> bool {
    ends <= shared.ledger.now()
}
