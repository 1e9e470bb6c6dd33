use crate::{
    answers::{METHOD_NOT_ALLOWED, ROUTED_AWAY},
    request::{Request, delivery},
    row::{Outcome, Promise, Row, Told, let_in, refused},
};

const LONG: &str = match str::from_utf8(&[b'P'; 200]) {
    Ok(letters) => letters,
    Err(_) => panic!("letters are UTF-8"),
};

pub(super) fn rows() -> Vec<Row> {
    vec![
        not_post("GET", delivery().method("GET").bodyless()),
        not_post("GET with a body", delivery().method("GET")),
        not_post("HEAD", delivery().method("HEAD").bodyless()),
        not_post("OPTIONS", delivery().method("OPTIONS").bodyless()),
        not_post("TRACE", delivery().method("TRACE").bodyless()),
        not_post("PUT", delivery().method("PUT")),
        not_post("PATCH", delivery().method("PATCH")),
        not_post("DELETE", delivery().method("DELETE").bodyless()),
        not_post("a method of no standard", delivery().method("DELIVER")),
        not_post("post in lower case", delivery().method("post")),
        not_post("Post with one capital", delivery().method("Post")),
        not_post("a method that begins like POST", delivery().method("POSTS")),
        not_post("a method of 200 letters", delivery().method(LONG)),
        not_post("PROPFIND with a body", delivery().method("PROPFIND")),
        not_post("QUERY with a body", delivery().method("QUERY")),
        not_post("DELETE with a body", delivery().method("DELETE")),
        // What becomes of chunks that no handler asked for is the framework's affair.
        not_post("GET with chunks", delivery().method("GET").chunked(7)).extract(Promise::Nothing),
        not_post(
            "PUT that asks to be taken for POST",
            delivery().method("PUT").with("X-HTTP-Method-Override", "POST"),
        ),
        let_in(
            "POST that asks to be taken for GET",
            delivery().with("X-HTTP-Method-Override", "GET"),
        ),
    ]
}

/// In extractor style the framework routes, so that the receiver never sees the request.
fn not_post(situation: &'static str, request: Request) -> Row {
    let routed_away = Outcome::of(ROUTED_AWAY);
    let actix_web = Outcome {
        // It reads nothing of a body that no handler asked for.
        closes: !request.body.is_empty(),
        ..routed_away.clone()
    };
    let axum = routed_away;
    refused(situation, request, METHOD_NOT_ALLOWED, Told::Nothing)
        .extract(Promise::Framework { axum, actix_web })
}
