/// How many more handlers may run.
///
/// Up to `concurrency` handlers run at once. While the outcomes of the last attempts are stored, the next are claimed, so
/// that both can share a commit.
#[derive(Debug)]
pub(super) struct Capacity {
    concurrency: u32,
    running: u32,
    /// Attempts whose handlers have ended, and whose outcomes are not stored yet.
    settling: u32,
}

impl Capacity {
    pub(super) fn new(concurrency: u32) -> Self {
        Self { concurrency, running: 0, settling: 0 }
    }

    /// How many entries may be claimed. None while a slow store has as many outcomes left to store.
    pub(super) fn room(&self) -> u32 {
        let all = self.concurrency.saturating_mul(2).saturating_sub(self.unsettled());
        self.concurrency.saturating_sub(self.running).min(all)
    }

    /// Whether only few entries may be claimed: less than half as many as handlers may run.
    pub(super) fn has_little_room(&self) -> bool {
        self.room() < self.concurrency.div_ceil(2)
    }

    /// Attempts that are not over: their handlers run, or their outcomes are not stored yet.
    pub(super) fn unsettled(&self) -> u32 {
        self.running + self.settling
    }

    /// A claim brought this many entries.
    pub(super) fn claimed(&mut self, brought: u32) {
        self.running += brought;
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
}
