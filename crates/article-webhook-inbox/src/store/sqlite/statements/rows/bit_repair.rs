use rusqlite::types::ValueRef;

use super::checksum::checksum;

/// Reads the columns as they were written, if a single bit of one has changed since: then the checksum shows which. `None`
/// if more has changed. The first column is the id, which led to the row.
pub(super) fn restored<const N: usize, T>(
    columns: &[ValueRef<'_>; N],
    expected: ValueRef<'_>,
    read: impl Fn(&[ValueRef<'_>; N]) -> Option<T>,
) -> Option<T> {
    let ValueRef::Integer(expected) = expected else { return None };
    columns.iter().enumerate().skip(1).find_map(|(place, value)| match *value {
        ValueRef::Null | ValueRef::Real(_) => None,
        ValueRef::Integer(number) => (0..64).find_map(|bit| {
            with(columns, place, ValueRef::Integer(number ^ (1 << bit)), expected, &read)
        }),
        ValueRef::Text(text) => {
            flipped(text, |text| with(columns, place, ValueRef::Text(text), expected, &read))
        }
        ValueRef::Blob(bytes) => {
            flipped(bytes, |bytes| with(columns, place, ValueRef::Blob(bytes), expected, &read))
        }
    })
}

/// Reads the columns with this value in the place of another, if that is what their checksum is of.
fn with<'a, const N: usize, T>(
    columns: &[ValueRef<'a>; N],
    place: usize,
    value: ValueRef<'a>,
    expected: i64,
    read: &impl Fn(&[ValueRef<'_>; N]) -> Option<T>,
) -> Option<T> {
    let mut columns = *columns;
    columns[place] = value;
    if checksum(columns) == expected { read(&columns) } else { None }
}

/// The first result for bytes of which one bit is another.
fn flipped<T>(bytes: &[u8], result: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    let mut bytes = bytes.to_vec();
    (0..bytes.len() * 8).find_map(|bit| {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let found = result(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_of_any_column_is_restored_and_more_is_not() {
        let row = [
            ValueRef::Integer(7),
            ValueRef::Text(b"post-17"),
            ValueRef::Integer(-3),
            ValueRef::Blob(&[1, 2]),
            ValueRef::Null,
        ];
        let expected = ValueRef::Integer(checksum(row));
        let read = |columns: &[ValueRef<'_>; 5]| Some(format!("{columns:?}"));
        let damaged = [
            (1, ValueRef::Text(b"post-16"), true),
            (1, ValueRef::Text(b"post-1\xb7"), true),
            (1, ValueRef::Text(b"post-14"), false),
            (2, ValueRef::Integer(-3 ^ (1 << 62)), true),
            (2, ValueRef::Integer(0), false),
            (3, ValueRef::Blob(&[1, 3]), true),
            (3, ValueRef::Blob(&[1]), false),
            (4, ValueRef::Integer(0), false),
        ];
        for (place, value, is_restored) in damaged {
            let mut columns = row;
            columns[place] = value;
            let found = restored(&columns, expected, read);
            assert_eq!(found, is_restored.then(|| format!("{row:?}")), "{value:?}");
            assert_eq!(restored(&columns, ValueRef::Null, read), None, "without a checksum");
        }
    }
}
