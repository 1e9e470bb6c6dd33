use crate::{
    answers::BAD_REQUEST,
    request::{ARTICLE, delivery, delivery_of},
    row::{
        Row,
        Told::{Job, NoJob},
        kept, let_in, refused,
    },
    site::Site,
};

/// A body that says which job it is about, and no more.
const NO_ARTICLE: &str = r#"{"job_id":"job_1","status":"complete"}"#;

pub(super) fn rows() -> Vec<Row> {
    [missing(), repeated(), strict(), own_names()].concat()
}

fn missing() -> Vec<Row> {
    let no_event = |body| delivery_of(body).without("X-Service-Event");
    let no_job = |body| delivery_of(body).without("X-Service-Job-Id");
    let neither = |body| no_event(body).without("X-Service-Job-Id");
    let unfinished = r#"{"job_id":"job_1","status":"failed","article":{"title":"","html":""}}"#;
    let no_id = r#"{"status":"complete","article":{"title":"","html":""}}"#;
    let no_html = r#"{"job_id":"job_1","status":"complete","article":{"title":""}}"#;
    vec![
        let_in("no event, and a complete article", no_event(ARTICLE)),
        let_in("no job id, and a complete article", no_job(ARTICLE)),
        let_in("neither, and a complete article", neither(ARTICLE)),
        kept("no event, and no article", no_event(NO_ARTICLE), BAD_REQUEST, Job("job_1")),
        kept("no event, and another status", no_event(unfinished), BAD_REQUEST, Job("job_1")),
        kept("no event, and no html", no_event(no_html), BAD_REQUEST, Job("job_1")),
        kept("no event, and no id in the body", no_event(no_id), BAD_REQUEST, Job("job_1")),
        kept("no job id, and no article", no_job(NO_ARTICLE), BAD_REQUEST, Job("job_1")),
        kept("neither, and no article", neither(NO_ARTICLE), BAD_REQUEST, Job("job_1")),
    ]
}

fn repeated() -> Vec<Row> {
    let event = |value| delivery().and("X-Service-Event", value);
    let job_id = |value| delivery().and("X-Service-Job-Id", value);
    let lower = delivery().without("X-Service-Event").without("X-Service-Job-Id");
    let lower = lower.and("x-service-event", "article.complete").and("x-service-job-id", "job_1");
    let underscored = delivery().and("X_Service_Event", "article.updated");
    let cases = delivery().and("x-service-EVENT", "article.complete");
    let nothing_first = delivery().with("X-Service-Event", "");
    let nothing_first = nothing_first.and("X-Service-Event", "article.complete");
    let illegal_first = delivery().with("X-Service-Job-Id", "..").and("X-Service-Job-Id", "job_1");
    let fifty = (0..49).fold(delivery(), |request, _| request.and("X-Service-Job-Id", "job_1"));
    let both_twice = event("article.complete").and("X-Service-Job-Id", "job_1");
    vec![
        let_in("the service's headers in lower case", lower),
        let_in("the event with an underscore, and without", underscored),
        refused("the event in two letter cases of its header", cases, BAD_REQUEST, Job("job_1")),
        refused("the event, then nothing", event(""), BAD_REQUEST, Job("job_1")),
        refused("nothing, then the event", nothing_first, BAD_REQUEST, Job("job_1")),
        refused("the job id, then nothing", job_id(""), BAD_REQUEST, NoJob),
        refused("an illegal job id, then the job id", illegal_first, BAD_REQUEST, NoJob),
        refused("the job id fifty times", fifty, BAD_REQUEST, NoJob),
        refused("the event and the job id twice", both_twice, BAD_REQUEST, NoJob),
        refused("the event twice", event("article.complete"), BAD_REQUEST, Job("job_1")),
        refused("two events in two headers", event("article.updated"), BAD_REQUEST, Job("job_1")),
        refused("the job id twice", job_id("job_1"), BAD_REQUEST, NoJob),
        refused("two job ids in two headers", job_id("job_2"), BAD_REQUEST, NoJob),
    ]
}

fn strict() -> Vec<Row> {
    let no_event = delivery().without("X-Service-Event");
    let no_job = delivery().without("X-Service-Job-Id");
    let neither = no_event.clone().without("X-Service-Job-Id");
    let empty = delivery().with("X-Service-Event", "");
    let rows = vec![
        let_in("strict, and both headers", delivery()),
        refused("strict, and neither", neither, BAD_REQUEST, NoJob),
        refused("strict, and an empty event", empty, BAD_REQUEST, Job("job_1")),
        refused("strict, and no event", no_event, BAD_REQUEST, Job("job_1")),
        refused("strict, and no job id", no_job, BAD_REQUEST, NoJob),
    ];
    rows.into_iter().map(|row| row.at(Site::Strict)).collect()
}

fn own_names() -> Vec<Row> {
    let renamed = delivery().without("X-Service-Event").without("X-Service-Job-Id");
    let renamed = renamed.and("Acme-Event", "article.complete").and("Acme-Job", "job_1");
    let twice = renamed.clone().and("ACME-JOB", "job_1");
    let other = delivery().with("X-Service-Job-Id", "job_2");
    let rows = vec![
        let_in("headers of other names", renamed.clone()),
        let_in(
            "a documented name that now means nothing",
            renamed.and("X-Service-Job-Id", "job_2"),
        ),
        let_in("documented names where others are set", other),
        refused("a job id of another name, twice", twice, BAD_REQUEST, NoJob),
    ];
    rows.into_iter().map(|row| row.at(Site::OwnNames)).collect()
}
