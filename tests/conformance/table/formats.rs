use super::malformed;
use crate::{
    request::{ARTICLE, delivery_of},
    row::Row,
};

/// What other formats, and other readers of JSON, would make of an article.
pub(super) fn rows() -> Vec<Row> {
    [texts(), relaxed(), wrapped(), several(), binary()].concat()
}

fn body(situation: &'static str, body: impl AsRef<[u8]>) -> Row {
    malformed(situation, delivery_of(body))
}

fn around(situation: &'static str, shape: &str) -> Row {
    body(situation, shape.replace("{}", ARTICLE))
}

fn texts() -> Vec<Row> {
    let multipart =
        "--a\r\nContent-Disposition: form-data; name=\"payload\"\r\n\r\n{}\r\n--a--\r\n";
    vec![
        body("a form for a body", "job_id=job_1&status=complete"),
        around("a form whose field is the object", "payload={}"),
        around("a multipart form for a body", multipart),
        body("a percent-encoded object", "%7B%22job_id%22%3A%22job_1%22%7D"),
        body("an object in Base64", "eyJqb2JfaWQiOiJqb2JfMSJ9"),
        body("XML", "<?xml version=\"1.0\"?><delivery><job_id>job_1</job_id></delivery>"),
        body("a page", "<!doctype html><title>502 Bad Gateway</title>"),
        body("YAML", "job_id: job_1\nstatus: complete\n"),
        body("YAML in braces", "{job_id: job_1, status: complete}"),
        body("TOML", "job_id = \"job_1\"\nstatus = \"complete\"\n"),
        body("a table with commas", "job_id,status\njob_1,complete\n"),
        body("an object in Python's notation", "{'job_id': 'job_1', 'article': None}"),
        body("an object in Rust's notation", "Delivery { job_id: \"job_1\" }"),
    ]
}

/// JSON5, JavaScript and what configuration files allow.
fn relaxed() -> Vec<Row> {
    vec![
        body("a comment", r#"{"job_id":"job_1"/**/}"#),
        body("a comment to the end of its line", "{\"job_id\":\"job_1\"// id\n}"),
        body("a comment with a hash", "{\"job_id\":\"job_1\"# id\n}"),
        body("a comment of markup", "<!-- --> {\"job_id\":\"job_1\"}"),
        around("a comment before the object", "/* article */{}"),
        body("a text over two lines", "{\"job_id\":\"job_1\",\"new\":\"a\\\nb\"}"),
        body("a computed key", r#"{["job_"+"id"]:"job_1"}"#),
        body("a spread object", r#"{..."job_1"}"#),
        body("a date", r#"{"job_id":"job_1","new":new Date(0)}"#),
        body("a regular expression", r#"{"job_id":"job_1","new":/a/}"#),
    ]
}

/// Against readers that evaluate, and what is put before an object to stop them.
fn wrapped() -> Vec<Row> {
    vec![
        around("a call", "callback({});"),
        around("parentheses around the object", "({})"),
        around("an assignment", "var result = {}"),
        around("a prefix that stops scripts", ")]}',\n{}"),
        around("another prefix that stops scripts", "for(;;);{}"),
        around("a prefix that stops comments", "/**/{}"),
        around("an event of a stream", "data: {}\n\n"),
        around("a block of Markdown", "```json\n{}\n```"),
        around("a length before the object", "87\n{}"),
        around("chunks within the body", "57\r\n{}\r\n0\r\n\r\n"),
        around("a request within the body", "POST / HTTP/1.1\r\n\r\n{}"),
    ]
}

fn several() -> Vec<Row> {
    vec![
        around("an object per line", "{}\n{}\n"),
        around("two objects with a comma between", "{},{}"),
        around("two objects with a space between", "{} {}"),
        around("an object behind a record separator", "\x1e{}\n"),
        around("an object behind a zero byte", "\0{}"),
        around("an object behind null", "null {}"),
    ]
}

/// `{"job_id":"job_1"}` in each of them.
fn binary() -> Vec<Row> {
    let text = br#"{"job_id":"job_1"}"#;
    let stored = [b"\x78\x01\x01\x12\x00\xed\xff", &text[..], b"\x3b\x12\x06\x2b"].concat();
    vec![
        body("MessagePack", b"\x81\xa6job_id\xa5job_1"),
        body("CBOR", b"\xa1\x66job_id\x65job_1"),
        body("BSON", b"\x1c\x00\x00\x00\x02job_id\x00\x06\x00\x00\x00job_1\x00\x00"),
        body("a message of Protocol Buffers", b"\x0a\x05job_1"),
        body("a record of Smile", b":)\n\x01\xfa\x85job_id\x44job_1\xfb"),
        body("a zlib stream", stored),
        body("a Zstandard frame", [b"\x28\xb5\x2f\xfd\x20\x12\x91\x00\x00", &text[..]].concat()),
    ]
}
