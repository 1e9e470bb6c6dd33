use crate::Digest;

/// How far an inbox has acknowledged.
///
/// SQLite does not notice that a log was removed, or that its end cannot be read: it opens the database as it was before. So each
/// transaction raises the number of its changes, and after the commit, before any answer, the lock file records it.
/// A database that is behind the record lacks something that was acknowledged.
///
/// The record is not synced. After a power cut it may be an earlier one, which asks for less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store::sqlite) struct Acknowledged {
    /// The random id of the database.
    pub(in crate::store::sqlite) database: i64,
    /// How many changes it had.
    pub(in crate::store::sqlite) changes: i64,
}

/// A record: a mark, the id, the counter, and the beginning of the SHA-256 of these.
pub(super) type Record = [u8; 32];

const MARK: [u8; 8] = *b"inbox  1";

impl Acknowledged {
    pub(super) fn to_record(self) -> Record {
        let mut record = [0; 32];
        record[..8].copy_from_slice(&MARK);
        record[8..16].copy_from_slice(&self.database.to_be_bytes());
        record[16..24].copy_from_slice(&self.changes.to_be_bytes());
        let digest = Digest::of(&record[..24]);
        record[24..].copy_from_slice(&digest.as_bytes()[..8]);
        record
    }

    /// `None` if these bytes are no record.
    pub(super) fn from_record(record: &Record) -> Option<Self> {
        let number = |at: usize| Some(i64::from_be_bytes(record[at..at + 8].try_into().ok()?));
        let found = Self { database: number(8)?, changes: number(16)? };
        (found.to_record() == *record).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_with_a_flipped_bit_is_none() {
        let acknowledged = Acknowledged { database: -7, changes: 12 };
        let record = acknowledged.to_record();
        assert_eq!(Acknowledged::from_record(&record), Some(acknowledged));
        for bit in 0..record.len() * 8 {
            let mut damaged = record;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Acknowledged::from_record(&damaged), None, "bit {bit}");
        }
        assert_eq!(Acknowledged::from_record(&[0; 32]), None);
    }
}
