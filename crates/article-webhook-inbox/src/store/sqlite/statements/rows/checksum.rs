use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

/// The checksum of a row: the first eight bytes of the SHA-256 of its columns. It shows damage that SQLite does not see,
/// such as a flipped bit in a number. It does not protect against deliberate changes.
///
/// Each value is preceded by its type, and by its length if that varies, so that two different rows are never the same
/// bytes.
pub(super) fn checksum<'a>(columns: impl IntoIterator<Item = ValueRef<'a>>) -> i64 {
    let mut hash = Sha256::new();
    let mut sized = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for column in columns {
        match column {
            ValueRef::Null => sized(b'n', &[]),
            ValueRef::Integer(number) => sized(b'i', &number.to_le_bytes()),
            ValueRef::Real(number) => sized(b'r', &number.to_le_bytes()),
            ValueRef::Text(text) => sized(b't', text),
            ValueRef::Blob(bytes) => sized(b'b', bytes),
        }
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    i64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ValueRef<'_> {
        ValueRef::Text(text.as_bytes())
    }

    #[test]
    fn equal_rows_have_equal_checksums() {
        let row = [ValueRef::Integer(7), text("job_1"), ValueRef::Null, ValueRef::Blob(&[1, 2])];
        assert_eq!(checksum(row), checksum(row));
        // Files contain it: it stays the same in every version.
        assert_eq!(checksum(row), 1_561_549_426_209_974_106);
    }

    #[test]
    fn rows_that_differ_in_one_bit_or_only_in_their_borders_have_different_checksums() {
        let rows: [&[ValueRef<'_>]; 9] = [
            &[text("ab"), text("c")],
            &[text("a"), text("bc")],
            &[text("abc")],
            &[text("abc"), text("")],
            &[text("abc"), ValueRef::Null],
            &[text("acc")],
            &[ValueRef::Blob(b"abc")],
            &[ValueRef::Integer(1)],
            &[ValueRef::Integer(1 | 1 << 62)],
        ];
        let mut checksums: Vec<_> = rows.iter().map(|row| checksum(row.iter().copied())).collect();
        checksums.sort_unstable();
        checksums.dedup();
        assert_eq!(checksums.len(), rows.len());
    }
}
