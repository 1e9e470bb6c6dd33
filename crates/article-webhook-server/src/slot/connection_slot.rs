use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{sync::oneshot, time::Instant};

use super::{
    eviction_queue::{EvictionQueue, Position},
    exchange_state::{BodyState, ExchangeState},
};
use crate::settings::Settings;

/// All connections of a server. Dropping a sender makes its connection close.
#[derive(Debug)]
pub(crate) struct Connections(Mutex<EvictionQueue<oneshot::Sender<()>>>);

impl Connections {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(EvictionQueue::new())))
    }

    /// Closes the first connection that may be closed. `head_cutoff` is that of [`EvictionQueue::evict`].
    pub(crate) fn evict_one(&self, head_cutoff: Instant) {
        let evicted = lock(&self.0).evict(head_cutoff);
        drop(evicted); // outside the lock, because it wakes a task
    }
}

/// What the parts of one connection (socket, body, response) share: the state of its exchange, and the position in
/// the eviction queue that follows from it.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    settings: Settings,
    id: u64,
    slot: Mutex<Slot>,
}

#[derive(Debug)]
struct Slot {
    state: ExchangeState,
    /// `None` once the connection was evicted or has ended.
    position: Option<Position>,
}

/// The connection was evicted before its request was complete.
#[derive(Debug)]
pub(crate) struct Evicted;

impl ConnectionSlot {
    /// Takes a slot. The receiver resolves when the connection is evicted.
    pub(crate) fn take(
        connections: &Arc<Connections>,
        settings: Settings,
    ) -> (Arc<Self>, oneshot::Receiver<()>) {
        let (sender, evicted) = oneshot::channel();
        let state = ExchangeState::new(Instant::now());
        let mut queue = lock(&connections.0);
        let id = queue.new_id();
        let position = state.position(id);
        queue.insert(position, sender);
        drop(queue);
        let slot = Mutex::new(Slot { state, position: Some(position) });
        (Arc::new(Self { connections: connections.clone(), settings, id, slot }), evicted)
    }

    /// The request of an evicted connection must not reach the service: there is no connection for its response.
    pub(crate) fn head_received(&self, body: BodyState) -> Result<(), Evicted> {
        self.update(|state, now| state.head_received(now, body))
    }

    pub(crate) fn body_complete(&self) -> Result<(), Evicted> {
        self.update(ExchangeState::body_complete)
    }

    pub(crate) fn body_dropped(&self) {
        _ = self.update(ExchangeState::body_dropped);
    }

    pub(crate) fn response_complete(&self) {
        _ = self.update(|state, _| state.response_complete());
    }

    pub(crate) fn flushed(&self) {
        _ = self.update(ExchangeState::flushed);
    }

    pub(crate) fn write_stalled(&self) {
        _ = self.update(ExchangeState::write_stalled);
    }

    pub(crate) fn write_resumed(&self) {
        _ = self.update(|state, _| state.write_resumed());
    }

    pub(crate) fn is_body_unread(&self) -> bool {
        lock(&self.slot).state.is_body_unread()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        lock(&self.slot).state.deadline(&self.settings)
    }

    pub(crate) fn release(&self) {
        if let Some(position) = lock(&self.slot).position.take() {
            lock(&self.connections.0).remove(position);
        }
    }

    fn update(&self, change: impl FnOnce(&mut ExchangeState, Instant)) -> Result<(), Evicted> {
        let mut slot = lock(&self.slot);
        change(&mut slot.state, Instant::now());
        let from = slot.position.ok_or(Evicted)?;
        let to = slot.state.position(self.id);
        if from != to && !lock(&self.connections.0).reposition(from, to) {
            slot.position = None;
            return Err(Evicted);
        }
        slot.position = Some(to);
        Ok(())
    }
}

/// A panic while one of these locks is held leaves its value complete, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    fn evict(connections: &Connections) -> bool {
        lock(&connections.0).evict(Instant::now()).is_some()
    }

    #[test]
    fn a_head_that_arrives_after_the_eviction_is_refused() {
        let connections = Connections::new();
        let (slot, mut evicted) = ConnectionSlot::take(&connections, Settings::default());
        assert!(evicted.try_recv().is_err_and(|error| error == TryRecvError::Empty));
        connections.evict_one(Instant::now());
        assert!(evicted.try_recv().is_err_and(|error| error == TryRecvError::Closed));
        assert!(slot.head_received(BodyState::Complete).is_err());
    }

    #[test]
    fn a_body_that_ends_after_the_eviction_is_refused() {
        let connections = Connections::new();
        let (slot, _evicted) = ConnectionSlot::take(&connections, Settings::default());
        assert!(slot.head_received(BodyState::Incomplete).is_ok());
        assert!(evict(&connections));
        assert!(slot.body_complete().is_err());
    }

    #[test]
    fn a_request_in_progress_keeps_its_slot_and_a_released_slot_is_not_evicted() {
        let connections = Connections::new();
        let (slot, _evicted) = ConnectionSlot::take(&connections, Settings::default());
        assert!(slot.head_received(BodyState::Incomplete).is_ok());
        assert!(slot.body_complete().is_ok());
        assert!(!evict(&connections));
        slot.response_complete();
        slot.flushed();
        slot.release();
        assert!(!evict(&connections));
    }
}
