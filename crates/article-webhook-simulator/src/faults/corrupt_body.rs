use bytes::Bytes;
use serde_json::Value;

use super::fault::Fault;

/// The body of a delivery with a fault. Most faults do not change it.
pub(crate) fn corrupt_body(body: Bytes, fault: Fault) -> Bytes {
    match fault {
        Fault::Truncated => body.slice(..body.len() / 2),
        Fault::Oversized(bytes) => padded(body, bytes),
        Fault::UnknownFields => with_fields(
            &body,
            br#","revision":2,"region":{"code":"eu","tags":["a","b"]},"reviewed_by":null"#,
        ),
        Fault::MissingOptionalFields => without_optional_fields(body),
        _ => body,
    }
}

fn padded(body: Bytes, bytes: usize) -> Bytes {
    const START: &[u8] = br#","padding":""#;
    let missing = bytes.saturating_sub(body.len());
    if missing == 0 {
        return body;
    }
    let mut field = START.to_vec();
    field.resize(START.len() + missing.saturating_sub(START.len() + 1), b'x');
    field.push(b'"');
    with_fields(&body, &field)
}

/// Adds fields at the end of the object. `fields` begin with a comma, and the object is not empty.
fn with_fields(body: &[u8], fields: &[u8]) -> Bytes {
    let end = body.len().saturating_sub(1);
    [&body[..end], fields, &body[end..]].concat().into()
}

/// Only the fields that a result must have.
fn without_optional_fields(body: Bytes) -> Bytes {
    let Ok(Value::Object(mut result)) = serde_json::from_slice(&body) else {
        return body;
    };
    result.retain(|name, _| matches!(&**name, "job_id" | "status" | "article"));
    if let Some(Value::Object(article)) = result.get_mut("article") {
        article.retain(|name, _| matches!(&**name, "title" | "html"));
    }
    Value::Object(result).to_string().into()
}
