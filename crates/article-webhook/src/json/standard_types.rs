use serde::{Serialize, Serializer, de::SeqAccess};
use serde_json::Number;

use super::{Elements, Field, FromJson, from_json::skip_array};

impl FromJson for String {
    const EXPECTED: &'static str = "a string";

    fn text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

/// Up to here, every integer is an f64.
const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53

impl FromJson for u64 {
    const EXPECTED: &'static str = "an integer from 0";

    /// `44.0` is read as 44: some senders write integers as floats.
    fn number(number: Number) -> Option<Self> {
        let whole = |float: &f64| float.fract() == 0.0 && (0.0..=EXACT).contains(float);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is integral and in range"
        )]
        let of_float = |float: f64| float as Self;
        number.as_u64().or_else(|| number.as_f64().filter(whole).map(of_float))
    }
}

impl FromJson for f64 {
    const EXPECTED: &'static str = "a number";

    fn number(number: Number) -> Option<Self> {
        number.as_f64()
    }
}

/// Writes a number as an integer where it is one, as the service does.
pub(crate) fn serialize_number<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match *number {
        #[expect(clippy::cast_possible_truncation, reason = "it is integral and in range")]
        Some(float) if float.fract() == 0.0 && float.abs() <= EXACT => {
            serializer.serialize_i64(float as i64)
        }
        number => number.serialize(serializer),
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    const EXPECTED: &'static str = "an array of at most 4096 values";

    fn array<'de, A: SeqAccess<'de>>(
        mut elements: Elements<'_, A>,
    ) -> Result<Option<Self>, A::Error> {
        let mut all = Self::new();
        while let Some(element) = elements.next()? {
            match element {
                Field::Value(element) if elements.keep() => all.push(element),
                _ => {
                    skip_array(elements)?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integral_float_is_an_integer_where_every_integer_is_a_float() {
        let read = |text: &str| <u64 as FromJson>::number(text.parse().unwrap());
        for (text, number) in [
            ("44", Some(44)),
            ("44.0", Some(44)),
            ("4.4e1", Some(44)),
            ("-0", Some(0)),
            ("-0.0", Some(0)),
            ("9007199254740992.0", Some(1 << 53)),
            ("9007199254740994.0", None),
            ("9007199254740993", Some((1 << 53) + 1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("44.5", None),
            ("-1", None),
            ("-44.0", None),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
    }

    #[test]
    fn a_number_is_written_as_an_integer_where_it_is_one() {
        let written = |number: f64| {
            let mut json = Vec::new();
            let mut serializer = serde_json::Serializer::new(&mut json);
            serialize_number(&Some(number), &mut serializer).unwrap();
            String::from_utf8(json).unwrap()
        };
        for (number, text) in [
            (44.0, "44"),
            (-3.0, "-3"),
            (44.5, "44.5"),
            (-0.0, "0"),
            (EXACT, "9007199254740992"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(written(number), text);
        }
    }
}
