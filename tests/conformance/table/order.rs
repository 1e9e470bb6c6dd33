use crate::{
    answers::{
        BAD_REQUEST, INVALID_JOB_ID, MALFORMED, METHOD_NOT_ALLOWED, MISMATCH, TOO_LARGE,
        UNSUPPORTED,
    },
    request::{Request, delivery},
    row::{
        Promise, Row, Told,
        Told::{Job, NoJob},
        refused, stranger,
    },
    site::Site,
};

/// Whoever is wrong in several ways is told of the first: method, token, content headers, headers
/// of the service, declared length, body.
pub(super) fn rows() -> Vec<Row> {
    [heads(), bodies()].concat()
}

/// What is seen before the body, and makes the rest of the connection worthless.
fn heads() -> Vec<Row> {
    let long = || delivery().unsent(1 << 20);
    let illegal = long().with("X-Service-Job-Id", "..");
    let all = || wrong_type(encoded(two_jobs(long())));
    let method = foreign(all()).method("PUT");
    let encoded = encoded(two_jobs(long()));
    let arrays = delivery().body("[".repeat(200));
    let chunked = arrays.clone().chunked(200);
    let rows = vec![
        refused("all is wrong", method, METHOD_NOT_ALLOWED, Told::Nothing)
            .extract(Promise::Nothing),
        stranger("all is wrong but the method", foreign(all())),
        refused("all is wrong but the token", all(), UNSUPPORTED, NoJob),
        refused("encoded, two jobs, too long", encoded, UNSUPPORTED, NoJob),
        refused("a wrong type, two jobs", wrong_type(two_jobs(long())), UNSUPPORTED, NoJob),
        refused("a wrong type, too long", wrong_type(long()), UNSUPPORTED, Job("job_1")),
        refused("two jobs, too long", two_jobs(long()), BAD_REQUEST, NoJob),
        refused("an illegal job id, too long", illegal, INVALID_JOB_ID, NoJob),
        refused("too long, and malformed", arrays, TOO_LARGE, Job("job_1")),
        refused("too long in chunks, and malformed", chunked, TOO_LARGE, Job("job_1")),
    ];
    let rows = rows.into_iter();
    rows.map(|row| row.at(Site::Small).closing()).collect()
}

fn bodies() -> Vec<Row> {
    let two_events = delivery().and("X-Service-Event", "article.updated");
    let no_event = |body| delivery().without("X-Service-Event").body(body);
    let cut = |body| delivery().body(body);
    let malformed = |situation, request| refused(situation, request, MALFORMED, Job("job_1"));
    vec![
        refused("two events, and two jobs", two_jobs(two_events), BAD_REQUEST, NoJob),
        malformed("no event, and malformed", no_event("{")),
        malformed("another job, and malformed", cut(r#"{"job_id":"job_2""#)),
        malformed("an illegal job id in the body, and malformed", cut(r#"{"job_id":1"#)),
        refused("no event, and another job", no_event(r#"{"job_id":"job_2"}"#), MISMATCH, NoJob),
        refused(
            "no event, and an illegal job id",
            no_event(r#"{"job_id":1}"#),
            INVALID_JOB_ID,
            Job("job_1"),
        ),
    ]
}

fn foreign(request: Request) -> Request {
    request.with("Authorization", "Bearer guess")
}

fn wrong_type(request: Request) -> Request {
    request.with("Content-Type", "text/plain")
}

fn encoded(request: Request) -> Request {
    request.with("Content-Encoding", "gzip")
}

fn two_jobs(request: Request) -> Request {
    request.and("X-Service-Job-Id", "job_2")
}
