use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{
    Body, Digest, MAX_BODIES_PER_ENTRY, Source, State,
    call::{Arrival, Recorded},
};

/// What the decision about a new body needs to know of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct KnownBody {
    /// Its digest.
    pub digest: Digest,
    /// How it reached the inbox.
    pub source: Source,
    /// Whether it came with an intent.
    pub has_intent: bool,
    /// Whether it came to a capability URL, and in no other way.
    pub is_by_capability: bool,
}

impl From<&Arrival> for KnownBody {
    fn from(arrival: &Arrival) -> Self {
        Self {
            digest: arrival.digest,
            source: arrival.source,
            has_intent: arrival.intent.is_some(),
            is_by_capability: arrival.is_by_capability(),
        }
    }
}

#[doc(hidden)]
impl From<&Body> for KnownBody {
    fn from(body: &Body) -> Self {
        Self {
            digest: body.digest,
            source: body.source,
            has_intent: body.intent.is_some(),
            is_by_capability: body.is_by_capability(),
        }
    }
}

/// The decision about a new body of an existing entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Recording {
    /// What the store returns.
    pub recorded: Recorded,
    /// What the store writes besides the row.
    pub write: BodyWrite,
}

/// What a store does with a new body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store that erases a write must not compile")]
pub enum BodyWrite {
    /// Nothing is written.
    Nothing,
    /// The body is added after the others.
    Append,
    /// The body, with everything that is known about it, replaces the one at this index. If it has no intent, it gets
    /// that of the other.
    Replace(usize),
    /// The body is not kept. The one at this index gets its intent, because no body of the entry has one.
    Intent(usize),
    /// The body is the one at this index, which came to a capability URL. It gets the target: it counts as one that came by
    /// token, or from the API.
    Target(usize),
}

impl Row {
    /// Decides about a new body. `stored` are the entry's bodies, in order.
    ///
    /// A body by token, or of the API, outranks those of capability URLs: a worker reads it first, and while a full entry waits
    /// it takes the place of the last of these.
    pub fn record(&mut self, new: KnownBody, stored: &[KnownBody], now: SystemTime) -> Recording {
        let recording = |recorded, write| Recording { recorded, write };
        // A job's copy for a capability URL may come before or after that for a publish target. Its intent is kept.
        let brings_intent = new.has_intent && !stored.iter().any(|body| body.has_intent);
        let not_kept =
            |index| if brings_intent { BodyWrite::Intent(index) } else { BodyWrite::Nothing };
        if let Some(index) = stored.iter().position(|body| body.digest == new.digest) {
            if self.state != State::Corrupt {
                let is_outranked = stored[index].is_by_capability && !new.is_by_capability;
                let write = if is_outranked { BodyWrite::Target(index) } else { not_kept(index) };
                return recording(Recorded::Duplicate, write);
            }
            self.wait(Duration::ZERO, Cause::None, now);
            return recording(Recorded::Stored, BodyWrite::Replace(index));
        }

        let is_full = stored.len() >= MAX_BODIES_PER_ENTRY;
        if let State::Unhandled | State::Corrupt = self.state {
            let is_only_beyond = new.source == Source::Api && stored.len() == MAX_BODIES_PER_ENTRY;
            let write = match replaced(new, stored) {
                _ if !is_full => BodyWrite::Append,
                Some(index) => BodyWrite::Replace(index),
                // What the API gives now may be the article.
                None if is_only_beyond => BodyWrite::Append,
                None => return recording(Recorded::BodyLimitReached, BodyWrite::Nothing),
            };
            self.conflicts = self.conflicts.saturating_add(1);
            self.wait(Duration::ZERO, Cause::None, now);
            return recording(Recorded::Stored, write);
        }
        if let (State::Waiting, true, false, Some(index)) =
            (self.state, is_full, new.is_by_capability, last_by_capability(stored))
        {
            self.conflicts = self.conflicts.saturating_add(1);
            return recording(Recorded::Conflict { kept: true }, BodyWrite::Replace(index));
        }
        if is_full && !self.has_decoded() {
            return recording(Recorded::BodyLimitReached, BodyWrite::Nothing);
        }
        self.conflicts = self.conflicts.saturating_add(1);
        let write = if is_full { not_kept(0) } else { BodyWrite::Append };
        recording(Recorded::Conflict { kept: !is_full }, write)
    }

    /// Whether a worker has found a body for a handler.
    fn has_decoded(&self) -> bool {
        match self.state {
            State::Done | State::Dead => true,
            // A handler ran on one of the bodies, and failed.
            State::Waiting => self.cause.is_some(),
            State::Leased | State::Unhandled | State::Corrupt | State::Quarantined => false,
        }
    }
}

/// Which of the bodies of a full entry, none of which can be read, gives way to a new one: the last, and of those that came to
/// capability URLs first. A body that was delivered never gives way to one that the API gave, the one beyond the limit to no
/// delivered one, and one that came by token to none that came to a capability URL.
fn replaced(new: KnownBody, stored: &[KnownBody]) -> Option<usize> {
    let last = || stored.len().min(MAX_BODIES_PER_ENTRY).checked_sub(1);
    match new.source {
        Source::Webhook if new.is_by_capability => last_by_capability(stored),
        Source::Webhook => last_by_capability(stored).or_else(last),
        Source::Api => stored.iter().rposition(|body| body.source == Source::Api),
    }
}

fn last_by_capability(stored: &[KnownBody]) -> Option<usize> {
    stored.iter().rposition(|body| body.is_by_capability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn row(state: State) -> Row {
        Row { state, cause: Some("a cause".into()), ..Row::new(NOW) }
    }

    fn body(bytes: &[u8]) -> KnownBody {
        KnownBody {
            digest: Digest::of(bytes),
            source: Source::Webhook,
            has_intent: false,
            is_by_capability: false,
        }
    }

    fn bodies(count: usize) -> Vec<KnownBody> {
        (0..count).map(|number| body(&[u8::try_from(number).unwrap()])).collect()
    }

    /// None of the bodies may have been read, and the new one may be the article.
    #[test]
    fn a_killed_worker_has_not_shown_that_a_full_entry_can_be_read() {
        let failures = vec![Failure::new(NOW, 1, "an earlier round".into())];
        let mut row = Row { attempts: 1, interrupted: 1, failures, ..Row::new(NOW) };
        let recording = row.record(body(b"new"), &bodies(MAX_BODIES_PER_ENTRY), NOW);
        assert_eq!(recording.recorded, Recorded::BodyLimitReached);
        assert_eq!(recording.write, BodyWrite::Nothing);
    }

    #[test]
    fn what_came_by_token_gives_way_to_nothing_that_came_to_a_url() {
        let to_url = |body: KnownBody| KnownBody { is_by_capability: true, ..body };
        let new = body(b"new");
        for state in [State::Unhandled, State::Corrupt] {
            let record = |new, known: &[KnownBody]| row(state).record(new, known, NOW);
            let refused = record(to_url(new), &bodies(4));
            assert_eq!(refused.recorded, Recorded::BodyLimitReached, "{state}");
            assert_eq!(refused.write, BodyWrite::Nothing, "{state}");
            let mut known = bodies(4);
            known[1] = to_url(known[1]);
            for new in [new, to_url(new)] {
                assert_eq!(record(new, &known).write, BodyWrite::Replace(1), "{state}");
            }
        }
    }
}
