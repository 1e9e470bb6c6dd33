use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{sync::oneshot, time::Instant};

use crate::{
    crowd::{Crowd, Place},
    limits::Limits,
    progress::Progress,
};

/// All connections of a server. Dropping its half of the channel tells a connection to go.
pub(crate) type Room = Mutex<Crowd<oneshot::Sender<()>>>;

/// What the parts of one connection (socket, body, answer) share: where it stands, and its place in
/// the crowd, which follows from that.
#[derive(Debug)]
pub(crate) struct Seat {
    room: Arc<Room>,
    limits: Limits,
    id: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    progress: Progress,
    /// `None` once the connection was told to go, or is gone.
    place: Option<Place>,
}

/// The connection gave way to another one before its request was complete.
#[derive(Debug)]
pub(crate) struct GaveWay;

impl Seat {
    /// Takes a place among the others. The receiver resolves when the place must be given up.
    pub(crate) fn take(room: &Arc<Room>, limits: Limits) -> (Arc<Self>, oneshot::Receiver<()>) {
        let (stay, go) = oneshot::channel();
        let progress = Progress::new(Instant::now());
        let mut crowd = lock(room);
        let id = crowd.new_id();
        let place = progress.place(id);
        crowd.enter(place, stay);
        drop(crowd);
        let state = Mutex::new(State { progress, place: Some(place) });
        (Arc::new(Self { room: room.clone(), limits, id, state }), go)
    }

    /// A request whose connection gave way must not reach the service: its answer could not be sent.
    pub(crate) fn head(&self, has_body: bool) -> Result<(), GaveWay> {
        self.step(|progress, now| progress.head(now, has_body))
    }

    pub(crate) fn body_read(&self) -> Result<(), GaveWay> {
        self.step(Progress::body_read)
    }

    pub(crate) fn body_dropped(&self) {
        _ = self.step(Progress::body_dropped);
    }

    pub(crate) fn told(&self) {
        _ = self.step(|progress, _| progress.told());
    }

    pub(crate) fn written(&self) {
        _ = self.step(Progress::written);
    }

    pub(crate) fn blocked(&self) {
        _ = self.step(Progress::blocked);
    }

    pub(crate) fn unblocked(&self) {
        _ = self.step(|progress, _| progress.unblocked());
    }

    pub(crate) fn is_body_unread(&self) -> bool {
        lock(&self.state).progress.is_body_unread()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        lock(&self.state).progress.deadline(&self.limits)
    }

    pub(crate) fn leave(&self) {
        if let Some(place) = lock(&self.state).place.take() {
            lock(&self.room).leave(place);
        }
    }

    fn step(&self, change: impl FnOnce(&mut Progress, Instant)) -> Result<(), GaveWay> {
        let mut state = lock(&self.state);
        change(&mut state.progress, Instant::now());
        let from = state.place.ok_or(GaveWay)?;
        let to = state.progress.place(self.id);
        if from != to && !lock(&self.room).step(from, to) {
            state.place = None;
            return Err(GaveWay);
        }
        state.place = Some(to);
        Ok(())
    }
}

/// A panic elsewhere leaves nothing half done in what these locks guard.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Arc<Room> {
        Arc::new(Mutex::new(Crowd::new()))
    }

    #[test]
    fn a_head_that_comes_after_its_place_was_given_up_is_refused() {
        let room = room();
        let (seat, mut go) = Seat::take(&room, Limits::default());
        assert!(go.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Empty));
        drop(lock(&room).give_way(Instant::now()));
        assert!(go.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
        assert!(seat.head(false).is_err());
    }

    #[test]
    fn a_body_that_ends_after_its_place_was_given_up_is_refused() {
        let room = room();
        let (seat, _go) = Seat::take(&room, Limits::default());
        assert!(seat.head(true).is_ok());
        assert!(lock(&room).give_way(Instant::now()).is_some());
        assert!(seat.body_read().is_err());
    }

    #[test]
    fn a_request_at_work_keeps_its_place_and_a_connection_that_left_has_none() {
        let room = room();
        let (seat, _go) = Seat::take(&room, Limits::default());
        assert!(seat.head(true).is_ok());
        assert!(seat.body_read().is_ok());
        assert!(lock(&room).give_way(Instant::now()).is_none());
        seat.told();
        seat.written();
        seat.leave();
        assert!(lock(&room).give_way(Instant::now()).is_none());
    }
}
