//! A status in JSON: its number.

use http::StatusCode;
use serde::Serializer;

pub(crate) fn serialize<S: Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}
