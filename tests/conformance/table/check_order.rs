use crate::{
    answers::{
        BAD_REQUEST, INVALID_JOB_ID, MALFORMED, METHOD_NOT_ALLOWED, MISMATCH, TOO_LARGE,
        UNSUPPORTED,
    },
    request::{Request, delivery},
    row::{
        Promise, Row, Told,
        Told::{Job, NoJob},
        kept, refused, stranger,
    },
    site::Site,
};

const OTHER_JOB: &str = r#"{"job_id":"job_2"}"#;

/// A request with several defects is answered for the first of them, in this order: method, token, content
/// headers, headers of the service, declared length, body.
pub(super) fn rows() -> Vec<Row> {
    [heads(), bodies()].concat()
}

/// What is seen before the body, and makes the rest of the connection worthless.
fn heads() -> Vec<Row> {
    let long = || delivery().unsent(1 << 20);
    let bad_event = || long().with("X-Service-Event", "");
    let encoded_event = encoded(bad_event());
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
        refused(
            "a wrong type, an illegal event",
            wrong_type(bad_event()),
            UNSUPPORTED,
            Job("job_1"),
        ),
        refused("encoded, an illegal event", encoded_event, UNSUPPORTED, Job("job_1")),
        refused("an illegal event, too long", bad_event(), BAD_REQUEST, Job("job_1")),
        refused("an illegal event, two jobs, too long", two_jobs(bad_event()), BAD_REQUEST, NoJob),
        stranger("a stranger, two jobs, too long", foreign(two_jobs(long()))),
        stranger("a stranger, an illegal event, too long", foreign(bad_event())),
        refused("two jobs, too long", two_jobs(long()), BAD_REQUEST, NoJob),
        refused("an illegal job id, too long", illegal, INVALID_JOB_ID, NoJob),
        refused("too long, and malformed", arrays, TOO_LARGE, Job("job_1")),
        refused("too long in chunks, and malformed", chunked, TOO_LARGE, Job("job_1")),
    ];
    let rows = rows.into_iter();
    rows.map(|row| row.at(Site::Small).closing()).collect()
}

fn bodies() -> Vec<Row> {
    let bad_event = delivery().with("X-Service-Event", "");
    let illegal = delivery().with("X-Service-Job-Id", "..");
    let deep = [r#"{"job_id":"job_1","article":7,"new":"#, &"[".repeat(64)].concat();
    let two_events = delivery().and("X-Service-Event", "article.updated");
    let no_event = |body| delivery().without("X-Service-Event").body(body);
    let cut = |body: &str| delivery().body(body);
    let malformed = |situation, request| kept(situation, request, MALFORMED, Job("job_1"));
    vec![
        refused("two events, and two jobs", two_jobs(two_events), BAD_REQUEST, NoJob),
        stranger("a stranger, malformed", foreign(cut("{"))),
        stranger("a stranger, and another job in the body", foreign(cut(OTHER_JOB))),
        refused("a wrong type, malformed", wrong_type(cut("{")), UNSUPPORTED, Job("job_1")),
        refused(
            "encoded, and another job in the body",
            encoded(cut(OTHER_JOB)),
            UNSUPPORTED,
            Job("job_1"),
        ),
        refused("an illegal event, malformed", bad_event.body("{"), BAD_REQUEST, Job("job_1")),
        refused("an illegal job id, malformed", illegal.body("{"), INVALID_JOB_ID, NoJob),
        kept("another job, and no article", cut(OTHER_JOB), MISMATCH, NoJob),
        malformed("a repeated key behind another job", cut(r#"{"job_id":"job_2","a":0,"a":0}"#)),
        malformed("too deep behind an article that is none", cut(&deep)),
        malformed("cut, and a byte that is no UTF-8", delivery().body(b"{\xff")),
        malformed("no event, and malformed", no_event("{")),
        malformed("another job, and malformed", cut(r#"{"job_id":"job_2""#)),
        malformed("an illegal job id in the body, and malformed", cut(r#"{"job_id":1"#)),
        kept("no event, and another job", no_event(OTHER_JOB), MISMATCH, NoJob),
        kept(
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
