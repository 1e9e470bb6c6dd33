use crate::{
    answers::{MALFORMED, UNSUPPORTED},
    request::{Request, delivery},
    row::{Row, Told::Job, let_in, refused},
};

/// `{"job_id":"job_1"}`, compressed.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xabV\xca\xcaO\x8a\xcfLQ\xb2\x023\x0c\x95j\x01\x11\x8cs%\x12\x00\x00\x00";

pub(super) fn rows() -> Vec<Row> {
    let encoded = |value| delivery().with("Content-Encoding", value);
    let no = |situation, request: Request| refused(situation, request, UNSUPPORTED, Job("job_1"));
    vec![
        let_in("Content-Encoding: identity", encoded("identity")),
        let_in("Content-Encoding: Identity", encoded("Identity")),
        let_in("Content-Encoding is empty", encoded("")),
        no("gzip", encoded("gzip")),
        no("gzip, and the body is", encoded("gzip").body(GZIP)),
        no("br", encoded("br")),
        no("deflate", encoded("deflate")),
        no("identity, then gzip", encoded("identity, gzip")),
        no("identity and gzip in two headers", encoded("identity").and("Content-Encoding", "gzip")),
        no("an encoding of no standard", encoded("none")),
        // Nothing is decompressed, whether the sender says so or not.
        refused(
            "a compressed body and no word about it",
            delivery().body(GZIP),
            MALFORMED,
            Job("job_1"),
        ),
    ]
}
