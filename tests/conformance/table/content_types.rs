use crate::{
    answers::UNSUPPORTED,
    request::{Request, delivery},
    row::{Row, Told::Job, let_in, refused},
};

pub(super) fn rows() -> Vec<Row> {
    [json(), other()].concat()
}

fn of_type(value: impl AsRef<[u8]>) -> Request {
    delivery().with("Content-Type", value)
}

fn json() -> Vec<Row> {
    let renamed = delivery().without("Content-Type");
    let renamed = renamed.and("CONTENT-TYPE", "application/json");
    vec![
        let_in("Application/JSON", of_type("Application/JSON")),
        let_in("CONTENT-TYPE in upper case", renamed),
        let_in("white space around the type", of_type(" application/json\t")),
        let_in("charset=utf-8", of_type("application/json; charset=utf-8")),
        let_in("charset=UTF-8 and no space", of_type("application/json;charset=UTF-8")),
        let_in("CHARSET=Utf-8", of_type("application/json; CHARSET=Utf-8")),
        let_in("charset in quotes", of_type(r#"application/json; charset="utf-8""#)),
        let_in("another parameter", of_type("application/json; version=1")),
        let_in("a parameter and charset", of_type("application/json; v=1; charset=utf-8")),
        let_in("an empty parameter", of_type("application/json;")),
        let_in("white space before a parameter", of_type("application/json ;\tcharset=utf-8")),
        let_in("empty parameters", of_type("application/json;; charset=utf-8;")),
    ]
}

fn other() -> Vec<Row> {
    let no = |situation, request| refused(situation, request, UNSUPPORTED, Job("job_1"));
    let again = |value| delivery().and("Content-Type", value);
    let form = "application/x-www-form-urlencoded";
    let multipart = "multipart/form-data; boundary=application/json";
    vec![
        no("no Content-Type", delivery().without("Content-Type")),
        no("Content-Type is empty", of_type("")),
        no("Content-Type twice", again("application/json")),
        no("Content-Type of two kinds", again("text/plain")),
        no("two types in one header", of_type("application/json, application/json")),
        no("text/plain", of_type("text/plain")),
        no("text/json", of_type("text/json")),
        no("application/problem+json", of_type("application/problem+json")),
        no("application/jsonl", of_type("application/jsonl")),
        no("*/*", of_type("*/*")),
        no("a form", of_type(form)),
        no("a multipart form", of_type(multipart)),
        no("the type without its half", of_type("application/")),
        no("the type's name alone", of_type("json")),
        no("a type that is not text", of_type(b"application/json\xff")),
        no("charset=latin1", of_type("application/json; charset=latin1")),
        no("charset=utf-16", of_type("application/json; charset=utf-16")),
        no("charset=utf8", of_type("application/json; charset=utf8")),
        no("two charsets", of_type("application/json; charset=utf-8; charset=latin1")),
        no("a charset without semicolon", of_type("application/json charset=utf-8")),
    ]
}
