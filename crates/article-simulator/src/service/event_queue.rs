use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    time::Duration,
};

/// What is to happen, in order of time; what is due at the same time, in the order it was entered.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    entries: BinaryHeap<Reverse<Entry<T>>>,
    entered: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Duration,
    number: u64,
    what: T,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Self {
        Self { entries: BinaryHeap::new(), entered: 0 }
    }

    pub(crate) fn enter(&mut self, at: Duration, what: T) {
        self.entered += 1;
        self.entries.push(Reverse(Entry { at, number: self.entered, what }));
    }

    pub(crate) fn next_at(&self) -> Option<Duration> {
        self.entries.peek().map(|Reverse(entry)| entry.at)
    }

    /// The first entry that is due, with its time.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<(Duration, T)> {
        self.next_at().filter(|&at| at <= now)?;
        self.entries.pop().map(|Reverse(entry)| (entry.at, entry.what))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_of_time_and_then_of_entry() {
        let second = Duration::from_secs;
        let mut agenda = Agenda::new();
        for (at, what) in [(3, "d"), (1, "a"), (2, "b"), (2, "c")] {
            agenda.enter(second(at), what);
        }
        assert_eq!(agenda.next_at(), Some(second(1)));
        assert_eq!(agenda.take_due(second(0)), None);
        let due: Vec<_> = std::iter::from_fn(|| agenda.take_due(second(2))).collect();
        assert_eq!(due, [(second(1), "a"), (second(2), "b"), (second(2), "c")]);
        assert_eq!(agenda.next_at(), Some(second(3)));
    }

    #[test]
    fn many_entries_of_one_time_keep_their_order() {
        let mut agenda = Agenda::new();
        (0..100).for_each(|what| agenda.enter(Duration::ZERO, what));
        let due = std::iter::from_fn(|| agenda.take_due(Duration::ZERO));
        assert!(due.map(|(_, what)| what).eq(0..100));
    }
}
