//! Reads the JSON of a body in one pass, with serde's visitors. Independent of articles.
//!
//! A well-formed body is read strictly, in known and in unknown fields: numbers that no f64 holds and nesting deeper
//! than 64 levels are refused, because some programs refuse these, and others read different values (RFC 8259,
//! sections 6 and 9).
//!
//! Only a body that is not well-formed is [repaired](repair), and then read strictly: what senders are known to get
//! wrong costs no article, and a well-formed body costs nothing more and has no second meaning.
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
mod malformed;
mod object;
mod parse;
mod repair;
mod standard_types;
mod value_visitor;

pub(crate) use field::Field;
pub(crate) use from_json::{Elements, Entries, FromJson, Skipped, skip_array};
pub use kind::Kind;
pub use malformed::MalformedJson;
pub(crate) use object::ObjectFields;
pub(crate) use parse::{deserialize, parse};
pub(crate) use repair::RepairAt;
pub use repair::{Repair, repair};
pub(crate) use standard_types::serialize_number;
