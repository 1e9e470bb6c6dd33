use super::malformed;
use crate::{
    request::{ARTICLE, delivery_of, with_field},
    row::{Row, let_in},
};

/// A number is what RFC 8259 says, in fields that are read and in those that are not. What Python writes for what is no
/// number counts as null.
pub(super) fn rows() -> Vec<Row> {
    [legal(), signs_and_zeros(), digits(), too_large(), in_other_languages(), anywhere()].concat()
}

fn new(number: &str) -> String {
    [r#""new":"#, number].concat()
}

fn legal() -> Vec<Row> {
    let new = |situation, number: &str| let_in(situation, with_field(new(number)));
    let credits = |situation, number: &str| {
        let_in(situation, with_field(format!(r#""credits_used":{number}"#)))
    };
    let long_fraction = ["0.", &"0".repeat(5000), "1"].concat();
    vec![
        credits("an integer", "44"),
        credits("an integer with a fraction of zero", "44.0"),
        credits("a fraction", "0.5"),
        credits("a negative number", "-3"),
        credits("minus zero", "-0"),
        credits("minus zero with a fraction", "-0.0"),
        credits("an exponent", "4.4E+1"),
        credits("an integer of 65 bits", "18446744073709551616"),
        credits("a negative integer of 65 bits", "-9223372036854775809"),
        new("a number that no integer holds", "123456789012345678901234567890"),
        new("the largest double", "1.7976931348623157e308"),
        new("a number that is next to nothing", "1e-999"),
        new("zero with an exponent that no double has", "0e999"),
        new("a fraction of 5001 digits", &long_fraction),
    ]
}

fn wrong(situation: &'static str, number: &str) -> Row {
    malformed(situation, with_field(new(number)))
}

fn signs_and_zeros() -> Vec<Row> {
    vec![
        wrong("a leading plus", "+44"),
        wrong("a minus alone", "-"),
        wrong("two minus signs", "--44"),
        wrong("a space behind the minus", "- 44"),
        wrong("a minus behind the number", "44-"),
        wrong("a leading zero", "044"),
        wrong("two zeros", "00"),
        wrong("a leading zero behind the minus", "-044"),
        wrong("a leading zero before a fraction", "00.5"),
    ]
}

fn digits() -> Vec<Row> {
    vec![
        wrong("a leading point", ".5"),
        wrong("a leading point behind the minus", "-.5"),
        wrong("a trailing point", "44."),
        wrong("a point before an exponent", "44.e1"),
        wrong("two points", "4.4.4"),
        wrong("an exponent without digits", "4e"),
        wrong("an exponent of a sign alone", "4e+"),
        wrong("an exponent with a fraction", "4e1.5"),
        wrong("two exponents", "4e1e1"),
        wrong("an exponent alone", "e1"),
    ]
}

/// No double holds these, and the parser of this project has no other number.
fn too_large() -> Vec<Row> {
    let many_digits = "9".repeat(400);
    vec![
        wrong("a number that no double holds", "1e999"),
        wrong("a negative number that no double holds", "-1e999"),
        wrong("a number just over the largest double", "1.8e308"),
        wrong("400 digits", &many_digits),
        wrong("an exponent over 64 bits", "1e99999999999999999999"),
        malformed(
            "a number of credits that no double holds",
            with_field(r#""credits_used":1e999"#),
        ),
    ]
}

fn in_other_languages() -> Vec<Row> {
    let null = |situation, number: &str| let_in(situation, with_field(new(number)));
    vec![
        wrong("hexadecimal digits", "0x2c"),
        wrong("octal digits", "0o54"),
        wrong("binary digits", "0b101100"),
        wrong("an underscore between digits", "1_000"),
        wrong("a comma between digits", "1,000"),
        wrong("a suffix of a big integer", "44n"),
        wrong("a suffix of a float", "4.4f"),
        wrong("a per cent sign", "44%"),
        null("NaN", "NaN"),
        null("Infinity", "Infinity"),
        null("-Infinity", "-Infinity"),
        wrong("inf", "inf"),
        wrong("+Infinity", "+Infinity"),
        wrong("nan", "nan"),
        wrong("a word that begins with NaN", "NaNs"),
        malformed("NaN for a key", with_field("NaN:0")),
        malformed("NaN for the job id", delivery_of(ARTICLE.replacen(r#""job_1""#, "NaN", 1))),
        let_in("NaN for the credits", with_field(r#""credits_used":NaN"#)),
        let_in("an array of what is no number", with_field(r#""new":[NaN,[-Infinity]]"#)),
        wrong("Arabic digits", "٤٤"),
        wrong("full-width digits", "４４"),
    ]
}

/// A reader that skips what it does not know must look at it all the same.
fn anywhere() -> Vec<Row> {
    let field = |situation, field: &str| malformed(situation, with_field(field));
    vec![
        field("a leading zero in an array", r#""new":[1,01]"#),
        field("a leading zero deep in an unknown field", r#""new":{"a":[{"b":01}]}"#),
        field("a leading zero in a social post", r#""social_posts":{"x":[{"likes":01}]}"#),
        field("a trailing point in an image", r#""featured_image":{"width":1.}"#),
        field("a number that no double holds, in a social post", r#""social_posts":{"x":[1e999]}"#),
    ]
}
