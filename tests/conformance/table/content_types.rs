use crate::{
    answers::UNSUPPORTED,
    request::{Request, delivery},
    row::{Row, Told::Job, let_in, refused},
};

pub(super) fn rows() -> Vec<Row> {
    [json(), other(), parameters()].concat()
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
        let_in(
            "a charset within another parameter's quotes",
            of_type(r#"application/json; note="; charset=latin1""#),
        ),
        let_in(
            "a quote, escaped, within a parameter's quotes",
            of_type(r#"application/json; note="a\"; charset=latin1""#),
        ),
        let_in(
            "a parameter of 8 KB",
            of_type(["application/json; a=", &"a".repeat(8000)].concat()),
        ),
    ]
}

fn other() -> Vec<Row> {
    let no = |situation, request| refused(situation, request, UNSUPPORTED, Job("job_1"));
    let again = |value| delivery().and("Content-Type", value);
    let form = "application/x-www-form-urlencoded";
    let multipart = "multipart/form-data; boundary=application/json";
    let text_first = of_type("text/plain").and("Content-Type", "application/json");
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
        no("a space before the sign of charset", of_type("application/json; charset =latin1")),
        no("charset's name in quotes", of_type(r#"application/json; "charset"=latin1"#)),
        no("a parameter without name", of_type("application/json; =latin1")),
        no("a parameter of two words", of_type("application/json; a b=c")),
        no("a quote within quotes", of_type(r#"application/json; note="a"b""#)),
        no("quotes that an escape keeps open", of_type(r#"application/json; note="\""#)),
        no("charset=latin1", of_type("application/json; charset=latin1")),
        no("charset=utf-16", of_type("application/json; charset=utf-16")),
        no("charset=utf8", of_type("application/json; charset=utf8")),
        no("two charsets", of_type("application/json; charset=utf-8; charset=latin1")),
        no("a charset without semicolon", of_type("application/json charset=utf-8")),
        no("application/x-json", of_type("application/x-json")),
        no("application/json5", of_type("application/json5")),
        no("application/x-ndjson", of_type("application/x-ndjson")),
        no("application/json-seq", of_type("application/json-seq")),
        no("application/vnd.api+json", of_type("application/vnd.api+json")),
        no("application/cloudevents+json", of_type("application/cloudevents+json")),
        no("application/javascript", of_type("application/javascript")),
        no("application/octet-stream", of_type("application/octet-stream")),
        no("application/*", of_type("application/*")),
        no("the type in quotes", of_type(r#""application/json""#)),
        no("a slash behind the type", of_type("application/json/")),
        no("a space before the slash", of_type("application /json")),
        no("a space behind the slash", of_type("application/ json")),
        no("a backslash for the slash", of_type(r"application\json")),
        no("the type percent-encoded", of_type("application%2Fjson")),
        no("a comma behind the type", of_type("application/json,")),
        no("text first, then JSON", of_type("text/plain, application/json")),
        no("text first, then JSON in another header", text_first),
        no("JSON as a parameter of text", of_type("text/plain; application/json")),
        no("parameters without a type", of_type("; charset=utf-8")),
        no("a full-width letter in the type", of_type("application/\u{ff4a}son")),
    ]
}

fn parameters() -> Vec<Row> {
    let no = |situation, parameters: &str| {
        let value = ["application/json; ", parameters].concat();
        refused(situation, of_type(value), UNSUPPORTED, Job("job_1"))
    };
    vec![
        no("a parameter without value", "charset"),
        no("a parameter whose value is empty", "charset="),
        no("a charset of empty quotes", r#"charset="""#),
        no("a charset whose quotes do not end", r#"charset="utf-8"#),
        no("a charset in single quotes", "charset='utf-8'"),
        no("a space behind the equals sign", "charset= utf-8"),
        no("another charset in quotes", r#"charset="latin1""#),
        no("another charset behind a quoted parameter", r#"note="a"; charset=latin1"#),
        no("another charset behind a quoted backslash", r#"note="\\"; charset=latin1"#),
        no("charset=utf-8-sig", "charset=utf-8-sig"),
        no("charset=utf-7", "charset=utf-7"),
        no("charset=us-ascii", "charset=us-ascii"),
        no("charset=*", "charset=*"),
        no("another charset first", "charset=latin1; charset=utf-8"),
        no("a comma behind the charset", "charset=utf-8, text/plain"),
        no("a parameter that is not quoted and has a space", "note=a b"),
    ]
}
