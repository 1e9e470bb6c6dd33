use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::Claims;

/// The attempts of all workers of an inbox that are not over: their handlers run, or their outcomes are not stored yet.
///
/// One worker claims at a time, so that each knows what the others run. Beside an entry that runs alone there is no other:
/// if it crashes the process, no other entry loses an attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct InProgress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    claiming: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    attempts: u32,
    /// An entry runs alone, or waits until it can.
    is_alone: bool,
}

/// The turn of a worker to claim.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    in_progress: &'a InProgress,
    _claiming: tokio::sync::MutexGuard<'a, ()>,
}

/// An attempt that is not over. Dropping it ends it.
#[derive(Debug)]
pub(super) struct AttemptInProgress(InProgress);

impl InProgress {
    /// Waits until no other worker claims.
    pub(super) async fn turn(&self) -> Turn<'_> {
        let claiming = self.0.claiming.lock().await;
        Turn { in_progress: self, _claiming: claiming }
    }

    /// Whether an entry waits to run alone, and nothing else runs any more.
    pub(super) fn can_run_alone(&self) -> bool {
        let state = self.state();
        state.is_alone && state.attempts == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// How many attempts are not over; `None` if nothing may be claimed until they are.
    pub(super) fn running(&self) -> Option<u32> {
        let state = self.in_progress.state();
        (!state.is_alone || state.attempts == 0).then_some(state.attempts)
    }

    /// A claim returned these entries, whose attempts are in progress from now on.
    pub(super) fn claimed(self, claims: &Claims) -> Vec<AttemptInProgress> {
        let mut state = self.in_progress.state();
        state.is_alone =
            claims.alone_waits || claims.claimed.iter().any(|claimed| claimed.runs_alone);
        let attempts = claims.claimed.iter().map(|_| {
            state.attempts += 1;
            AttemptInProgress(self.in_progress.clone())
        });
        attempts.collect()
    }
}

impl Drop for AttemptInProgress {
    fn drop(&mut self) {
        self.0.state().attempts -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::{
        EntryKey,
        call::{Claimed, Lease},
    };

    fn claims(runs_alone: &[bool]) -> Claims {
        let claimed = runs_alone.iter().map(|runs_alone| Claimed {
            lease: Lease { id: 1, fence: 1 },
            key: EntryKey::article("job_1".parse().unwrap()),
            attempt: 1,
            runs_alone: *runs_alone,
            received_at: SystemTime::UNIX_EPOCH,
            bodies: Vec::new(),
        });
        Claims { claimed: claimed.collect(), ..Claims::default() }
    }

    #[tokio::test]
    async fn attempts_of_all_workers_are_counted_until_they_are_over() {
        let in_progress = InProgress::default();
        let one = in_progress.turn().await.claimed(&claims(&[false, false]));
        let two = in_progress.clone().turn().await.claimed(&claims(&[false]));
        assert_eq!(in_progress.turn().await.running(), Some(3));
        drop(one);
        assert_eq!(in_progress.turn().await.running(), Some(1));
        drop(two);
        assert!(!in_progress.can_run_alone(), "nothing waits for that");
    }

    #[tokio::test]
    async fn while_an_entry_runs_alone_or_waits_to_nothing_is_claimed() {
        let in_progress = InProgress::default();
        let other = in_progress.turn().await.claimed(&claims(&[false]));
        let waits = Claims { alone_waits: true, ..Claims::default() };
        assert!(in_progress.turn().await.claimed(&waits).is_empty());
        assert_eq!(in_progress.turn().await.running(), None);
        drop(other);
        assert!(in_progress.can_run_alone());
        assert_eq!(in_progress.turn().await.running(), Some(0));

        let alone = in_progress.turn().await.claimed(&claims(&[true]));
        assert_eq!(in_progress.turn().await.running(), None);
        drop(alone);
        assert_eq!(in_progress.turn().await.running(), Some(0));
    }

    #[tokio::test]
    async fn one_worker_claims_at_a_time() {
        let in_progress = InProgress::default();
        let turn = in_progress.turn().await;
        let other = tokio::time::timeout(std::time::Duration::from_millis(10), in_progress.turn());
        assert!(other.await.is_err());
        drop(turn);
        in_progress.turn().await;
    }
}
