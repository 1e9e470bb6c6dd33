use std::collections::BTreeMap;

use tokio::time::Instant;

/// All connections, in the order in which they give way when there is no room for another.
///
/// `T` is what tells a connection to go. Knows no clock and no socket.
#[derive(Debug)]
pub(crate) struct Crowd<T> {
    places: BTreeMap<Place, T>,
    next_id: u64,
}

/// The place of one connection: by rank, then by how long it has been there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) rank: Rank,
    pub(crate) since: Instant,
    /// Tells those apart that came in the same instant.
    pub(crate) id: u64,
}

/// Who gives way first comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Has not sent a whole head: costs nothing to send again, and proves nothing.
    Head,
    /// Has not sent the whole body.
    Body,
    /// Does not read its answer.
    Unread,
    /// Its request is being worked on: never gives way.
    Working,
}

impl<T> Crowd<T> {
    pub(crate) fn new() -> Self {
        Self { places: BTreeMap::new(), next_id: 0 }
    }

    pub(crate) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn enter(&mut self, place: Place, member: T) {
        self.places.insert(place, member);
    }

    /// Moves a member; `false` if it has been told to go in the meantime.
    pub(crate) fn step(&mut self, from: Place, to: Place) -> bool {
        let member = self.places.remove(&from);
        member.map(|member| self.places.insert(to, member)).is_some()
    }

    pub(crate) fn leave(&mut self, place: Place) {
        self.places.remove(&place);
    }

    /// Takes out whoever gives way first; `None` if nobody can. A head that is awaited since after `lately` is
    /// given its chance: else newcomers would turn each other out before they can say a word.
    pub(crate) fn give_way(&mut self, lately: Instant) -> Option<T> {
        let gives_way = |place: &&Place| match place.rank {
            Rank::Head => place.since <= lately,
            Rank::Body | Rank::Unread => true,
            Rank::Working => false,
        };
        let first = *self.places.keys().find(gives_way)?;
        self.places.remove(&first)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn crowd(members: &[(&'static str, Rank, u64)]) -> (Crowd<&'static str>, Vec<Place>) {
        let (mut crowd, start) = (Crowd::new(), Instant::now());
        let mut places = Vec::new();
        for &(name, rank, seconds) in members {
            let since = start + Duration::from_secs(seconds);
            let place = Place { rank, since, id: crowd.new_id() };
            crowd.enter(place, name);
            places.push(place);
        }
        (crowd, places)
    }

    /// When every head has had its chance.
    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_head_is_given_its_chance() {
        let (mut crowd, places) = crowd(&[
            ("a young head", Rank::Head, 9),
            ("an old head", Rank::Head, 2),
            ("a body", Rank::Body, 8),
        ]);
        let lately = places[1].since + Duration::from_secs(1);
        let order: Vec<_> = std::iter::from_fn(|| crowd.give_way(lately)).collect();
        assert_eq!(order, ["an old head", "a body"]);
        assert_eq!(crowd.give_way(places[0].since), Some("a young head"));
    }

    #[test]
    fn the_longest_without_a_head_gives_way_first_and_a_request_at_work_never() {
        let (mut crowd, _) = crowd(&[
            ("at work since long", Rank::Working, 0),
            ("an old body", Rank::Body, 1),
            ("a deaf peer", Rank::Unread, 0),
            ("a young head", Rank::Head, 9),
            ("an old head", Rank::Head, 2),
            ("a young body", Rank::Body, 8),
        ]);
        let order: Vec<_> = std::iter::from_fn(|| crowd.give_way(later())).collect();
        let expected =
            ["an old head", "a young head", "an old body", "a young body", "a deaf peer"];
        assert_eq!(order, expected);
    }

    #[test]
    fn members_of_the_same_instant_keep_their_own_places() {
        let (mut crowd, places) = crowd(&[("one", Rank::Head, 0), ("two", Rank::Head, 0)]);
        crowd.leave(places[0]);
        assert_eq!(crowd.give_way(later()), Some("two"));
        assert_eq!(crowd.give_way(later()), None);
    }

    #[test]
    fn a_member_that_was_told_to_go_cannot_step_on() {
        let (mut crowd, places) = crowd(&[("one", Rank::Head, 0)]);
        assert_eq!(crowd.give_way(later()), Some("one"));
        let to = Place { rank: Rank::Working, ..places[0] };
        assert!(!crowd.step(places[0], to));
        assert_eq!(crowd.give_way(later()), None);
    }

    #[test]
    fn a_step_to_work_makes_safe() {
        let (mut crowd, places) = crowd(&[("one", Rank::Head, 0)]);
        let to = Place { rank: Rank::Working, ..places[0] };
        assert!(crowd.step(places[0], to));
        assert_eq!(crowd.give_way(later()), None);
    }
}
