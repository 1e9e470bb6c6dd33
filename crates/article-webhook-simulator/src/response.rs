//! Responses of the API: JSON, the documented errors, and responses that are delayed.

mod api_error;
mod delay;
mod json;

pub(crate) use api_error::ApiError;
pub(crate) use delay::{delay_of, delayed};
pub(crate) use json::{json_response, response_of_type};
