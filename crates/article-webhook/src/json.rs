//! Reads the JSON of a body in one pass, with serde's visitors. Independent of articles.
//!
//! Every violation is refused everywhere, in known and in unknown fields: invalid UTF-8, lone
//! surrogates, numbers that no f64 holds, nesting deeper than 64 levels. Some programs refuse these, and
//! others read different values (RFC 8259, sections 6, 8.2 and 9), so a body with one would not be the same to
//! all that read it later. serde_json refuses them too: accepting them would take another parser.
//!
//! Serde's `IgnoredAny` and derived structs do not check this: they skip a field without a look at its
//! escapes or its depth, and they accept arrays in place of objects. In objects with known fields a repeated
//! key is refused as well, because two parsers may disagree about which of the two values counts.
//!
//! Memory is bounded by the length of the body, whatever its shape: strings are copied once, and what takes
//! many times its length in the body (values that are kept as JSON, unknown keys) is limited by count.
//!
//! A value of an unexpected kind is not an error of this pass: it becomes [`Field::OtherKind`], and the
//! caller decides. One pass thus distinguishes malformed bodies from bodies with unexpected values.

mod field;
mod from_json;
mod key;
mod kind;
mod limits;
mod object;
mod parse;
mod standard_types;
mod value_visitor;

pub(crate) use field::Field;
pub(crate) use from_json::{Elements, Entries, FromJson};
pub use kind::Kind;
pub(crate) use object::ObjectFields;
pub(crate) use parse::{Malformed, parse};
