//! What is repaired in a body that is not well-formed, and that nothing else is.

use super::bodies;

/// Holds the core to a body: the bytes are the body if they begin with a brace or a byte order mark, and else stand in
/// the title of an article.
pub fn check(data: &[u8]) {
    let (before, after) = if data.starts_with(b"{") || data.starts_with(b"\xef\xbb\xbf") {
        (&b""[..], &b""[..])
    } else {
        (&br#"{"job_id":"job_7c1e4a52","article":{"html":"","title":""#[..], &br#""}}"#[..])
    };
    let body = [before, data, after].concat();
    bodies::what_is_repaired_is_all_that_is_wrong(&body);
    bodies::every_reader_reads_alike(&body);
    bodies::what_decodes_says_the_same_as_the_json(&body);
}
