use std::collections::BTreeMap;

use tokio::time::Instant;

/// All connections, in the order in which they are closed when there is no room for another.
///
/// `T` is the signal that makes a connection close. The queue has no clock and no socket.
#[derive(Debug)]
pub(crate) struct EvictionQueue<T> {
    connections: BTreeMap<Position, T>,
    next_id: u64,
}

/// The position of one connection: by class, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) class: EvictionClass,
    pub(crate) since: Instant,
    /// Distinguishes connections of the same instant.
    pub(crate) id: u64,
}

/// Classes of connections. The first class is closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EvictionClass {
    /// Has not sent a complete head. Closed first, because the peer has not presented a token.
    AwaitingHead,
    /// Has not sent the complete body.
    ReadingBody,
    /// Does not read its response.
    WriteStalled,
    /// Its request is being processed: it is never closed.
    Protected,
}

impl<T> EvictionQueue<T> {
    pub(crate) fn new() -> Self {
        Self { connections: BTreeMap::new(), next_id: 0 }
    }

    pub(crate) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn insert(&mut self, position: Position, connection: T) {
        self.connections.insert(position, connection);
    }

    /// Moves a connection. Returns `false` if it has been evicted in the meantime.
    pub(crate) fn reposition(&mut self, from: Position, to: Position) -> bool {
        let connection = self.connections.remove(&from);
        connection.map(|connection| self.connections.insert(to, connection)).is_some()
    }

    pub(crate) fn remove(&mut self, position: Position) {
        self.connections.remove(&position);
    }

    /// Takes out the first connection that may be closed, if there is one. A connection whose wait for a head
    /// began after `head_cutoff` stays. Otherwise new connections would evict each other before any of them
    /// could send a head.
    pub(crate) fn evict(&mut self, head_cutoff: Instant) -> Option<T> {
        let may_be_closed = |position: &&Position| match position.class {
            EvictionClass::AwaitingHead => position.since <= head_cutoff,
            EvictionClass::ReadingBody | EvictionClass::WriteStalled => true,
            EvictionClass::Protected => false,
        };
        let first = *self.connections.keys().find(may_be_closed)?;
        self.connections.remove(&first)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn queue(
        connections: &[(&'static str, EvictionClass, u64)],
    ) -> (EvictionQueue<&'static str>, Vec<Position>) {
        let (mut queue, start) = (EvictionQueue::new(), Instant::now());
        let mut positions = Vec::new();
        for &(name, class, seconds) in connections {
            let since = start + Duration::from_secs(seconds);
            let position = Position { class, since, id: queue.new_id() };
            queue.insert(position, name);
            positions.push(position);
        }
        (queue, positions)
    }

    /// A cutoff after every head.
    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_recent_connection_gets_time_for_its_head() {
        let (mut queue, positions) = queue(&[
            ("a young head", EvictionClass::AwaitingHead, 9),
            ("an old head", EvictionClass::AwaitingHead, 2),
            ("a body", EvictionClass::ReadingBody, 8),
        ]);
        let cutoff = positions[1].since + Duration::from_secs(1);
        let order: Vec<_> = std::iter::from_fn(|| queue.evict(cutoff)).collect();
        assert_eq!(order, ["an old head", "a body"]);
        assert_eq!(queue.evict(positions[0].since), Some("a young head"));
    }

    #[test]
    fn the_longest_without_a_head_is_evicted_first_and_a_request_in_progress_never() {
        let (mut queue, _) = queue(&[
            ("in progress for long", EvictionClass::Protected, 0),
            ("an old body", EvictionClass::ReadingBody, 1),
            ("an unread response", EvictionClass::WriteStalled, 0),
            ("a young head", EvictionClass::AwaitingHead, 9),
            ("an old head", EvictionClass::AwaitingHead, 2),
            ("a young body", EvictionClass::ReadingBody, 8),
        ]);
        let order: Vec<_> = std::iter::from_fn(|| queue.evict(later())).collect();
        let expected =
            ["an old head", "a young head", "an old body", "a young body", "an unread response"];
        assert_eq!(order, expected);
    }

    #[test]
    fn connections_of_the_same_instant_have_positions_of_their_own() {
        let (mut queue, positions) = queue(&[
            ("one", EvictionClass::AwaitingHead, 0),
            ("two", EvictionClass::AwaitingHead, 0),
        ]);
        queue.remove(positions[0]);
        assert_eq!(queue.evict(later()), Some("two"));
        assert_eq!(queue.evict(later()), None);
    }

    #[test]
    fn an_evicted_connection_cannot_be_repositioned() {
        let (mut queue, positions) = queue(&[("one", EvictionClass::AwaitingHead, 0)]);
        assert_eq!(queue.evict(later()), Some("one"));
        let to = Position { class: EvictionClass::Protected, ..positions[0] };
        assert!(!queue.reposition(positions[0], to));
        assert_eq!(queue.evict(later()), None);
    }

    #[test]
    fn a_connection_whose_request_is_in_progress_is_protected() {
        let (mut queue, positions) = queue(&[("one", EvictionClass::AwaitingHead, 0)]);
        let to = Position { class: EvictionClass::Protected, ..positions[0] };
        assert!(queue.reposition(positions[0], to));
        assert_eq!(queue.evict(later()), None);
    }
}
