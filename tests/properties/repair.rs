//! What is repaired in a body that is not well-formed, and that nothing else is.

use super::bodies::{self, Subject};

/// Holds the core to a body.
///
/// # Panics
///
/// If the property is broken.
pub fn check(data: &[u8]) {
    hold(data, &Subject::CORE);
}

/// Holds a subject to a body: the bytes are the body if they begin with a brace or a byte order mark, and else stand in
/// the title of an article.
///
/// # Panics
///
/// If the property is broken.
pub fn hold(data: &[u8], subject: &Subject) {
    let (before, after) = if data.starts_with(b"{") || data.starts_with(b"\xef\xbb\xbf") {
        (&b""[..], &b""[..])
    } else {
        (&br#"{"job_id":"job_7c1e4a52","article":{"html":"","title":""#[..], &br#""}}"#[..])
    };
    let body = [before, data, after].concat();
    bodies::what_is_repaired_is_all_that_is_wrong(subject, &body);
    bodies::every_reader_reads_alike(subject, &body);
    bodies::what_decodes_says_the_same_as_the_json(subject, &body);
}
