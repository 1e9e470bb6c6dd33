//! The table: every situation in which a request can reach a receiver, and what it is answered.
//!
//! A row says `let_in`, `for_sinks` (a sink takes it, the extractor answers by itself), `refused` or
//! `stranger`. What a row does not say is checked all the same: no other header, no other entry of
//! the application, a connection that is usable unless the row is `closing`.

mod capabilities;
mod content_types;
mod depth;
mod encodings;
mod events;
mod job_ids_in_bodies;
mod job_ids_in_headers;
mod json;
mod keys;
mod lengths;
mod methods;
mod order;
mod replies;
mod results;
mod service_headers;
mod texts;
mod tokens;

use crate::row::Row;

pub(crate) fn rows() -> Vec<Row> {
    [
        methods::rows(),
        tokens::rows(),
        capabilities::rows(),
        content_types::rows(),
        encodings::rows(),
        service_headers::rows(),
        events::rows(),
        lengths::rows(),
        json::rows(),
        texts::rows(),
        keys::rows(),
        depth::rows(),
        job_ids_in_headers::rows(),
        job_ids_in_bodies::rows(),
        results::rows(),
        order::rows(),
        replies::rows(),
    ]
    .concat()
}
