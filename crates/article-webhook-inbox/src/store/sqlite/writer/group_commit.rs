use std::{collections::VecDeque, time::Duration};

/// The work that waits to be committed. All waiting work goes into the next transaction, within the limits, so that
/// it shares one sync of the disk. A group never waits for more work to come.
///
/// It is a pure state machine. The caller passes times, as durations since a fixed moment.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    limits: Limits,
    waiting: VecDeque<(usize, Waiting<T>)>,
    bytes: usize,
    is_closed: bool,
}

/// How much may wait and for how long, and how much goes into one transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) waiting: usize,
    pub(crate) waiting_bytes: usize,
    pub(crate) group: usize,
    pub(crate) group_bytes: usize,
    pub(crate) patience: Duration,
}

/// Why work may not wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    TooMany,
    TooLarge,
    Closed,
}

/// Work that is committed together, in the order in which it came.
#[derive(Debug)]
pub(crate) struct Group<T> {
    members: Vec<Waiting<T>>,
    patience: Duration,
}

#[derive(Debug)]
struct Waiting<T> {
    since: Duration,
    work: T,
}

impl<T> Queue<T> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, waiting: VecDeque::new(), bytes: 0, is_closed: false }
    }

    /// Adds work, unless too much waits already. Work that is larger than the limit of all waiting bytes waits alone.
    pub(crate) fn push(&mut self, work: T, bytes: usize, now: Duration) -> Result<(), Refusal> {
        if self.is_closed {
            return Err(Refusal::Closed);
        }
        if self.waiting.len() >= self.limits.waiting {
            return Err(Refusal::TooMany);
        }
        let is_too_large = self.bytes.saturating_add(bytes) > self.limits.waiting_bytes;
        if !self.waiting.is_empty() && is_too_large {
            return Err(Refusal::TooLarge);
        }
        self.push_anyway(work, bytes, now);
        Ok(())
    }

    /// Adds work that undoes other work, also after the end and beyond the limits.
    pub(crate) fn push_anyway(&mut self, work: T, bytes: usize, now: Duration) {
        self.bytes += bytes;
        self.waiting.push_back((bytes, Waiting { since: now, work }));
    }

    /// The next group, and the work that has waited too long to be in it. Both are empty if nothing waits.
    pub(crate) fn take(&mut self, now: Duration) -> (Group<T>, Vec<T>) {
        let Limits { group, group_bytes, patience, .. } = self.limits;
        let (mut members, mut expired, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
        while let Some((size, next)) = self.waiting.front() {
            let is_expired = is_over(next.since, patience, now);
            let is_too_much = bytes.saturating_add(*size) > group_bytes || members.len() >= group;
            if !is_expired && !members.is_empty() && is_too_much {
                break;
            }
            let (size, next) = self.waiting.pop_front().expect("the front was there");
            self.bytes -= size;
            if is_expired {
                expired.push(next.work);
                continue;
            }
            bytes += size;
            members.push(next);
        }
        (Group { members, patience }, expired)
    }

    /// Refuses all later work. Work that already waits is still taken. `false` if the queue was closed before.
    pub(crate) fn close(&mut self) -> bool {
        !std::mem::replace(&mut self.is_closed, true)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops all work, because nothing can be committed any more.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }
}

impl<T> Group<T> {
    /// Takes out the members that have waited too long.
    pub(crate) fn expire(&mut self, now: Duration) -> Vec<T> {
        let patience = self.patience;
        let expired = self.members.extract_if(.., |member| is_over(member.since, patience, now));
        expired.map(|member| member.work).collect()
    }

    /// A group for each member, after one of them has failed the others.
    pub(crate) fn split(self) -> impl Iterator<Item = Self> {
        let patience = self.patience;
        self.members.into_iter().map(move |member| Self { members: vec![member], patience })
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn works(&mut self) -> impl Iterator<Item = &mut T> {
        self.members.iter_mut().map(|member| &mut member.work)
    }

    pub(crate) fn into_works(self) -> impl Iterator<Item = T> {
        self.members.into_iter().map(|member| member.work)
    }
}

fn is_over(since: Duration, patience: Duration, now: Duration) -> bool {
    now.saturating_sub(since) >= patience
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        waiting: 4,
        waiting_bytes: 100,
        group: 3,
        group_bytes: 50,
        patience: Duration::from_secs(2),
    };
    const NOW: Duration = Duration::ZERO;

    fn queue(waiting: &[(char, usize)]) -> Queue<char> {
        let mut queue = Queue::new(LIMITS);
        for (work, bytes) in waiting {
            queue.push(*work, *bytes, NOW).unwrap();
        }
        queue
    }

    fn taken(queue: &mut Queue<char>, now: Duration) -> (String, String) {
        let (group, expired) = queue.take(now);
        (group.into_works().collect(), expired.into_iter().collect())
    }

    #[test]
    fn a_single_piece_of_work_is_a_group() {
        let mut queue = queue(&[('a', 1)]);
        assert_eq!(taken(&mut queue, NOW), ("a".into(), String::new()));
        assert!(queue.is_empty());
        assert_eq!(taken(&mut queue, NOW), (String::new(), String::new()));
    }

    #[test]
    fn all_work_that_waits_shares_a_group_in_its_order() {
        assert_eq!(taken(&mut queue(&[('a', 1), ('b', 1), ('c', 1)]), NOW).0, "abc");
    }

    #[test]
    fn a_group_has_a_maximum_of_members() {
        let mut queue = queue(&[('a', 1), ('b', 1), ('c', 1), ('d', 1)]);
        assert_eq!(taken(&mut queue, NOW).0, "abc");
        assert_eq!(taken(&mut queue, NOW).0, "d");
    }

    #[test]
    fn a_group_has_a_maximum_of_bytes_except_for_a_larger_member() {
        let mut queue = queue(&[('a', 30), ('b', 20), ('c', 1)]);
        assert_eq!(taken(&mut queue, NOW).0, "ab");
        assert_eq!(taken(&mut queue, NOW).0, "c");
        queue.push('d', 1000, NOW).unwrap();
        assert_eq!(taken(&mut queue, NOW).0, "d");
    }

    #[test]
    fn a_full_queue_refuses() {
        let mut full = queue(&[('a', 1), ('b', 1), ('c', 1), ('d', 1)]);
        assert_eq!(full.push('e', 1, NOW), Err(Refusal::TooMany));
        let mut crowded = queue(&[('a', 60), ('b', 40)]);
        assert_eq!(crowded.push('c', 1, NOW), Err(Refusal::TooLarge));
        taken(&mut crowded, NOW);
        assert_eq!(crowded.push('c', 1, NOW), Ok(()));
    }

    #[test]
    fn work_that_has_waited_too_long_is_not_run() {
        let mut queue = queue(&[('a', 50)]);
        queue.push('b', 50, Duration::from_millis(1)).unwrap();
        assert_eq!(taken(&mut queue, LIMITS.patience), ("b".into(), "a".into()));
    }

    #[test]
    fn each_member_of_a_group_waits_for_a_lock_as_long_as_it_may() {
        let mut queue = queue(&[('a', 1)]);
        queue.push('b', 1, Duration::from_secs(1)).unwrap();
        let (mut group, _) = queue.take(Duration::from_secs(1));
        assert_eq!(group.expire(Duration::from_secs(1)), [' '; 0]);
        assert_eq!(group.expire(Duration::from_secs(2)), ['a']);
        assert_eq!(group.expire(Duration::from_secs(3)), ['b']);
        assert!(group.is_empty());
    }

    #[test]
    fn a_group_splits_into_its_members() {
        let (group, _) = queue(&[('a', 1), ('b', 1)]).take(NOW);
        let groups: Vec<String> = group.split().map(|group| group.into_works().collect()).collect();
        assert_eq!(groups, ["a", "b"]);
    }

    #[test]
    fn a_closed_queue_takes_nothing_and_gives_what_it_has() {
        let mut queue = queue(&[('a', 1)]);
        assert!(queue.close());
        assert!(!queue.close());
        assert_eq!(queue.push('b', 1, NOW), Err(Refusal::Closed));
        assert_eq!(taken(&mut queue, NOW).0, "a");
    }
}
