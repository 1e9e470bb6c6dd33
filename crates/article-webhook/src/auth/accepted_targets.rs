use std::ops::Deref;

use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{Target, Targets, token_shape::CAPACITY};

/// This number of tokens is compared at a time: a word holds one byte of each.
const LANES: usize = size_of::<u64>();

/// The words of a line of the processor's cache.
const LINE: usize = 64 / size_of::<u64>();

/// The words of a group of tokens, in whole lines: two for their lengths, and one for each byte.
const GROUP: usize = (2 + CAPACITY).next_multiple_of(LINE);

/// The targets that a receiver accepts, with their tokens laid out for a comparison in constant time.
pub(crate) struct AcceptedTargets {
    targets: Box<[Target]>,
    /// In groups of eight tokens, each padded with zeros. So a comparison reads the same amount of memory for secrets
    /// of any length, and reads it in one piece.
    words: Zeroizing<Box<[u64]>>,
    /// Where the groups begin: at a line of the cache, because where the allocator puts them depends on the lengths of
    /// the secrets, and reading across lines takes longer.
    begin: usize,
}

impl From<Targets> for AcceptedTargets {
    fn from(targets: Targets) -> Self {
        let targets: Box<[Target]> = targets.0.into_iter().collect();
        // Allocated at its final size: growing would leave copies of the secrets behind.
        let length_of_all = targets.len().div_ceil(LANES) * GROUP;
        let mut words = Zeroizing::new(vec![0_u64; length_of_all + LINE].into_boxed_slice());
        let begin = words.as_ptr().align_offset(64).min(LINE);
        let groups = words[begin..].chunks_exact_mut(GROUP);
        for (group, targets) in groups.zip(targets.chunks(LANES)) {
            for (lane, target) in targets.iter().enumerate() {
                let token = target.token.expose_secret().as_bytes();
                let bytes = length(token).into_iter().chain(token.iter().copied());
                for (word, byte) in group.iter_mut().zip(bytes) {
                    *word |= u64::from(byte) << (8 * lane);
                }
            }
        }
        Self { targets, words, begin }
    }
}

impl AcceptedTargets {
    /// The index of the target whose token was presented.
    ///
    /// It takes a time that depends on the length of `presented` and on the number of targets alone, so that a sender
    /// cannot guess a token byte by byte, nor learn its length, nor which of several tokens was nearest: every
    /// token is compared, up to the length of `presented`, and no branch depends on the result.
    pub(crate) fn find(&self, presented: &[u8]) -> Option<usize> {
        if presented.len() > CAPACITY {
            return None;
        }
        let lengths = length(presented).map(in_each_lane);
        let (mut found, mut index) = (u64::MAX, 0);
        for group in self.words[self.begin..].chunks_exact(GROUP) {
            // The byte of a lane stays zero if all of its token is equal.
            let mut differences = (group[0] ^ lengths[0]) | (group[1] ^ lengths[1]);
            for (word, &byte) in group[2..].iter().zip(presented) {
                differences |= word ^ in_each_lane(byte);
            }
            for difference in differences.to_le_bytes() {
                found.conditional_assign(&index, difference.ct_eq(&0));
                index += 1;
            }
        }
        // The last group may have lanes without a token, which an empty value matches.
        usize::try_from(found).ok().filter(|&index| index < self.targets.len())
    }
}

impl Deref for AcceptedTargets {
    type Target = [Target];

    fn deref(&self) -> &[Target] {
        &self.targets
    }
}

/// The length of a token, or of a value of at most as many bytes, in two bytes.
fn length(token: &[u8]) -> [u8; 2] {
    u16::try_from(token.len()).unwrap_or(u16::MAX).to_le_bytes()
}

fn in_each_lane(byte: u8) -> u64 {
    u64::from_le_bytes([byte; LANES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthToken;

    fn accepted(tokens: &[&str]) -> AcceptedTargets {
        let token = |token: &str| AuthToken::new(token).unwrap();
        let one = Targets::new(tokens[0], token(tokens[0])).unwrap();
        let all = tokens.iter().try_fold(one, |all, text| all.and(text, token(text)));
        all.unwrap().into()
    }

    fn matches(token: &str, presented: &[u8]) -> bool {
        accepted(&[token]).find(presented).is_some()
    }

    #[test]
    fn the_longest_token_matches_and_a_longer_value_does_not() {
        let longest = "x".repeat(CAPACITY);
        assert!(matches(&longest, longest.as_bytes()));
        assert!(!matches(&longest, &[b'x'; CAPACITY - 256]), "the low byte of its length is equal");
        assert!(!matches(&longest, &[b'x'; 16]), "both bytes differ by the same bits");
        assert!(!matches(&longest, &[b'x'; CAPACITY + 1]));
        assert!(!matches(&longest, &[b'x'; (1 << 16) + CAPACITY]));
    }

    #[test]
    fn each_of_many_tokens_is_found_in_its_place_and_no_other_is() {
        for count in [1, 7, 8, 9, 17] {
            // Lengths that differ, and tokens that are beginnings of others.
            let tokens: Vec<_> = (1..=count).map(|length| "x".repeat(length)).collect();
            let tokens: Vec<_> = tokens.iter().map(|token| &**token).collect();
            let accepted = accepted(&tokens);
            assert_eq!(accepted.len(), count);
            for token in &tokens {
                let index = accepted.find(token.as_bytes()).unwrap();
                assert_eq!(&*accepted[index].label, *token);
            }
            for other in ["", "y", "\0", &"x".repeat(count + 1)] {
                assert_eq!(accepted.find(other.as_bytes()), None, "{other:?} of {count}");
            }
        }
    }
}
