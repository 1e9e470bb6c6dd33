use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::{
    activity::Activities,
    exchange_state::{BodyState, ExchangeState},
};
use crate::settings::Settings;

/// What the parts of one connection (socket, body, response) share: the state of its exchange.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    activities: Arc<Activities>,
    settings: Settings,
    state: Mutex<ExchangeState>,
}

impl ConnectionSlot {
    pub(crate) fn take(activities: &Arc<Activities>, settings: Settings) -> Arc<Self> {
        let state = ExchangeState::new(Instant::now());
        activities.change(None, state.activity());
        Arc::new(Self { activities: activities.clone(), settings, state: Mutex::new(state) })
    }

    pub(crate) fn head_received(&self, body: BodyState) {
        self.update(|state, _| state.head_received(body));
    }

    pub(crate) fn bytes_received(&self) {
        self.update(ExchangeState::bytes_received);
    }

    pub(crate) fn body_complete(&self) {
        self.update(|state, _| state.body_complete());
    }

    pub(crate) fn succeeded(&self) {
        self.update(|state, _| state.succeeded());
    }

    pub(crate) fn refused(&self) {
        self.update(ExchangeState::refused);
    }

    pub(crate) fn response_complete(&self) {
        self.update(|state, _| state.response_complete());
    }

    pub(crate) fn flushed(&self) {
        self.update(ExchangeState::flushed);
    }

    pub(crate) fn write_stalled(&self) {
        self.update(ExchangeState::write_stalled);
    }

    pub(crate) fn write_resumed(&self) {
        self.update(|state, _| state.write_resumed());
    }

    /// The connection ends, and the peer may still be sending. Returns when the server stops reading.
    pub(crate) fn close(&self) -> Instant {
        self.update(ExchangeState::close);
        self.deadline().unwrap_or_else(Instant::now)
    }

    /// Whether a head that is refused now is to be reported.
    pub(crate) fn reports_refused_head(&self) -> bool {
        self.activities.reports_refused_head(Instant::now())
    }

    /// The connection has ended.
    pub(crate) fn release(&self) {
        self.update(|state, _| state.end());
    }

    pub(crate) fn is_body_unread(&self) -> bool {
        self.lock().is_body_unread()
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.lock().is_closing()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        let full = self.activities.is_full().then(|| self.settings.of_a_full_server());
        self.lock().deadline(&full.unwrap_or(self.settings))
    }

    /// Whether this connection ends with its response: others wait for its end, or the server is about to stop.
    pub(crate) fn is_last_exchange(&self) -> bool {
        self.activities.is_full() || self.activities.is_stopping()
    }

    /// Whether this path is answered 503 because the server is about to stop.
    pub(crate) fn is_unready(&self, path: &str) -> bool {
        self.activities.is_stopping() && path == self.settings.ready_path
    }

    fn update(&self, change: impl FnOnce(&mut ExchangeState, Instant)) {
        let mut state = self.lock();
        let before = state.activity();
        change(&mut state, Instant::now());
        self.activities.change(before, state.activity());
    }

    /// A panic while the lock is held leaves a complete state, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, ExchangeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
