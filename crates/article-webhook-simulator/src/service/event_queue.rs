use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    time::Duration,
};

/// Events in order of time. Events of the same time keep the order in which they were added.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    events: BinaryHeap<Reverse<Event<T>>>,
    added: u64,
}

#[derive(Debug)]
struct Event<T> {
    at: Duration,
    number: u64,
    value: T,
}

impl<T> EventQueue<T> {
    pub(crate) fn new() -> Self {
        Self { events: BinaryHeap::new(), added: 0 }
    }

    pub(crate) fn add(&mut self, at: Duration, value: T) {
        self.added += 1;
        self.events.push(Reverse(Event { at, number: self.added, value }));
    }

    pub(crate) fn next_at(&self) -> Option<Duration> {
        self.events.peek().map(|Reverse(event)| event.at)
    }

    /// The first event that is due, with its time.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<(Duration, T)> {
        self.next_at().filter(|&at| at <= now)?;
        self.events.pop().map(|Reverse(event)| (event.at, event.value))
    }
}

impl<T> Ord for Event<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<T> PartialOrd for Event<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Event<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Event<T> {}
