use crate::{
    answers::{MALFORMED, UNSUPPORTED},
    request::{Request, delivery},
    row::{Row, Told::Job, kept, let_in, refused},
};

/// `{"job_id":"job_1"}`, compressed.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xabV\xca\xcaO\x8a\xcfLQ\xb2\x023\x0c\x95j\x01\x11\x8cs%\x12\x00\x00\x00";

pub(super) fn rows() -> Vec<Row> {
    let encoded = |value: &str| delivery().with("Content-Encoding", value);
    let not_ascii = delivery().with("Content-Encoding", b"identity\xff");
    let no = |situation, request: Request| refused(situation, request, UNSUPPORTED, Job("job_1"));
    vec![
        let_in("Content-Encoding: identity", encoded("identity")),
        let_in("Content-Encoding: Identity", encoded("Identity")),
        let_in("Content-Encoding is empty", encoded("")),
        let_in("identity twice", encoded("identity, identity")),
        let_in("commas for encodings", encoded(", ,")),
        no("gzip", encoded("gzip")),
        no("gzip, and the body is", encoded("gzip").body(GZIP)),
        no("br", encoded("br")),
        no("deflate", encoded("deflate")),
        no("identity, then gzip", encoded("identity, gzip")),
        no("identity and gzip in two headers", encoded("identity").and("Content-Encoding", "gzip")),
        no("an encoding of no standard", encoded("none")),
        no("GZIP in upper case", encoded("GZIP")),
        no("x-gzip", encoded("x-gzip")),
        no("zstd", encoded("zstd")),
        no("compress", encoded("compress")),
        no("an asterisk for the encoding", encoded("*")),
        no("gzip, then identity", encoded("gzip,identity")),
        no("gzip behind empty encodings", encoded(",,gzip")),
        no("gzip and identity in two headers", encoded("gzip").and("Content-Encoding", "identity")),
        no(
            "gzip in the second header of two, the first empty",
            encoded("").and("content-encoding", "gzip"),
        ),
        no("identity with a weight", encoded("identity;q=1")),
        no("identity in quotes", encoded(r#""identity""#)),
        no("an encoding that begins like identity", encoded("identity2")),
        no("an encoding that is not ASCII", not_ascii),
        no("chunks for an encoding", encoded("chunked")),
        no("utf-8 for an encoding", encoded("utf-8")),
        let_in("a wish for a compressed answer", delivery().with("Accept-Encoding", "gzip, br")),
        let_in("a wish for an answer in XML", delivery().with("Accept", "application/xml")),
        // Nothing is decompressed, whether the sender says so or not.
        kept(
            "a compressed body and no word about it",
            delivery().body(GZIP),
            MALFORMED,
            Job("job_1"),
        ),
    ]
}
