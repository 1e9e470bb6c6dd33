/// How many more handlers may run.
///
/// Up to `concurrency` handlers run at once. While the outcomes of the last attempts are stored, the next are claimed, so
/// that both can share a commit. An entry that must run alone has no other beside it, neither a handler nor an outcome
/// that is not stored yet: if it crashes the process, no other entry loses an attempt.
#[derive(Debug)]
pub(super) struct Capacity {
    concurrency: u32,
    running: u32,
    /// Attempts whose handlers have ended, and whose outcomes are not stored yet.
    settling: u32,
    /// An entry runs alone, or waits until it can.
    is_alone: bool,
}

impl Capacity {
    pub(super) fn new(concurrency: u32) -> Self {
        Self { concurrency, running: 0, settling: 0, is_alone: false }
    }

    /// How many entries may be claimed. None while a slow store has as many outcomes left to store.
    pub(super) fn room(&self) -> u32 {
        if self.is_alone && self.unsettled() > 0 {
            return 0;
        }
        let all = self.concurrency.saturating_mul(2).saturating_sub(self.unsettled());
        self.concurrency.saturating_sub(self.running).min(all)
    }

    /// Attempts that are not over: their handlers run, or their outcomes are not stored yet.
    pub(super) fn unsettled(&self) -> u32 {
        self.running + self.settling
    }

    /// A claim brought this many entries.
    pub(super) fn claimed(&mut self, brought: u32) {
        self.running += brought;
        self.is_alone = false;
    }

    /// Nothing is claimed until all attempts are over.
    pub(super) fn run_alone(&mut self) {
        self.is_alone = true;
    }

    /// A handler has ended, or was never started.
    pub(super) fn handled(&mut self) {
        self.running -= 1;
        self.settling += 1;
    }

    /// The outcome of an attempt is stored or lost.
    pub(super) fn settled(&mut self) {
        self.settling -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_is_claimed_while_outcomes_are_stored_but_not_more_than_as_many_again() {
        let mut capacity = Capacity::new(4);
        assert_eq!(capacity.room(), 4);
        capacity.claimed(4);
        for handled in 1..=4 {
            capacity.handled();
            assert_eq!(capacity.room(), handled);
        }
        capacity.claimed(4);
        capacity.handled();
        assert_eq!(capacity.room(), 0);
        capacity.settled();
        assert_eq!(capacity.room(), 1);
    }

    #[test]
    fn an_entry_that_waits_to_run_alone_waits_for_handlers_and_for_their_outcomes() {
        let mut capacity = Capacity::new(4);
        capacity.claimed(2);
        capacity.handled();
        capacity.run_alone();
        assert_eq!(capacity.room(), 0);
        capacity.settled();
        capacity.handled();
        assert_eq!((capacity.room(), capacity.unsettled()), (0, 1));
        capacity.settled();
        assert_eq!((capacity.room(), capacity.unsettled()), (4, 0));
        capacity.claimed(1);
        assert_eq!(capacity.room(), 3, "the claim decides anew");
    }
}
