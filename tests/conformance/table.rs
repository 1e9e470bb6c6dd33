//! The table: every situation in which a request can reach a receiver, and what it is answered.
//!
//! A row says `let_in`, `for_sinks` (a sink takes it, the extractor answers by itself), `refused`, `kept` (the
//! same, and the sink is given the body) or `stranger`. What a row does not say is checked all the same: no other header, no other entry of
//! the application, a connection that is usable unless the row is `closing`.

mod capabilities;
mod check_order;
mod content_types;
mod depth;
mod encodings;
mod escapes;
mod events;
mod forgeries;
mod formats;
mod job_ids_in_bodies;
mod job_ids_in_headers;
mod json;
mod keys;
mod kinds;
mod lengths;
mod methods;
mod numbers;
mod replies;
mod results;
mod service_headers;
mod texts;
mod tokens;
mod utf8;

use crate::{
    answers::MALFORMED,
    request::Request,
    row::{Row, Told::Job, kept},
};

pub(crate) fn rows() -> Vec<Row> {
    [authorizations(), heads(), bodies(), others()].concat()
}

pub(crate) fn authorizations() -> Vec<Row> {
    [tokens::rows(), forgeries::rows()].concat()
}

/// All that comes before the body, but `Authorization`.
pub(crate) fn heads() -> Vec<Row> {
    [
        methods::rows(),
        content_types::rows(),
        encodings::rows(),
        service_headers::rows(),
        job_ids_in_headers::rows(),
        events::rows(),
        lengths::rows(),
        check_order::rows(),
    ]
    .concat()
}

pub(crate) fn bodies() -> Vec<Row> {
    [
        json::rows(),
        formats::rows(),
        numbers::rows(),
        texts::rows(),
        escapes::rows(),
        utf8::rows(),
        keys::rows(),
        depth::rows(),
        job_ids_in_bodies::rows(),
        results::rows(),
        kinds::rows(),
    ]
    .concat()
}

fn others() -> Vec<Row> {
    [capabilities::rows(), replies::rows()].concat()
}

/// The body is no well-formed object, which both styles say, and the sink is given it as that of the header's job.
fn malformed(situation: &'static str, request: Request) -> Row {
    kept(situation, request, MALFORMED, Job("job_1"))
}
