use serde::de::SeqAccess;
use serde_json::Number;

use super::{Elements, Field, FromJson, from_json::skip_array};

impl FromJson for String {
    const EXPECTED: &'static str = "a string";

    fn text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl FromJson for Number {
    const EXPECTED: &'static str = "a number";

    /// `44.0` is read as 44: some senders write integers as floats.
    fn number(number: Number) -> Option<Self> {
        const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: up to here, every integer is an f64
        match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "it is integral and in range")]
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
                Some((float as i64).into())
            }
            _ => Some(number),
        }
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    const EXPECTED: &'static str = "an array of at most 4096 values";

    fn array<'de, A: SeqAccess<'de>>(
        mut elements: Elements<'de, A>,
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
        let read =
            |text: &str| <Number as FromJson>::number(text.parse().unwrap()).unwrap().to_string();
        for (text, number) in [
            ("44.0", "44"),
            ("-44.0", "-44"),
            ("44.5", "44.5"),
            ("4.4e1", "44"),
            ("9007199254740992.0", "9007199254740992"),
            ("9007199254740994.0", "9007199254740994.0"),
            // Not a float: rounding it would change it.
            ("9007199254740993", "9007199254740993"),
            ("44", "44"),
        ] {
            assert_eq!(read(text), number);
        }
    }
}
