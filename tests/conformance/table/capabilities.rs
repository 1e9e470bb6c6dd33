use crate::{
    answers::{METHOD_NOT_ALLOWED, MISMATCH, STORED, UNSUPPORTED},
    request::{Request, delivery},
    row::{Promise, Row, Told, Told::Job, kept, let_in, refused, stranger},
    site::Site,
};

// Made by hand with another HMAC: the expiry is in the year 2100, or was in 2001.
const RIGHT: &str =
    "order-17.4102444800.eaa27a3032e1b3449cb5cc7a0ff6ca5fb649a149c1953ffdd982f55945a78f89";
const OLDER_KEY: &str =
    "order-17.4102444800.8a30198395ff4821453fb8522810e54eeed9a58250cf7e25e9c62f583dfe347b";
const FOREIGN_KEY: &str =
    "order-17.4102444800.3eb587b37fea9659547a7ee8431c0006010344b1688556b77f7582d1c1ff2535";
const EXPIRED: &str =
    "order-17.1000000000.efdb3af28e4113bb5863a5c8e55072cb89ca81aa3147dc10b2cddf4b837951d2";
const OTHER_INTENT: &str =
    "order-18.4102444800.eaa27a3032e1b3449cb5cc7a0ff6ca5fb649a149c1953ffdd982f55945a78f89";
const LATER: &str =
    "order-17.4102444801.eaa27a3032e1b3449cb5cc7a0ff6ca5fb649a149c1953ffdd982f55945a78f89";
const UPPER_CASE: &str =
    "order-17.4102444800.EAA27A3032E1B3449CB5CC7A0FF6CA5FB649A149C1953FFDD982F55945A78F89";
const CUT: &str =
    "order-17.4102444800.eaa27a3032e1b3449cb5cc7a0ff6ca5fb649a149c1953ffdd982f55945a78f";

/// Only sinks have capability routes. `Authorization` is ignored there.
pub(super) fn rows() -> Vec<Row> {
    let to = |segment: &str| delivery().without("Authorization").segment(segment);
    let bearing = |token| delivery().with("Authorization", token).segment(RIGHT);
    let escaped = RIGHT.replacen('-', "%2D", 1);
    let twice = bearing("Bearer a").and("Authorization", "Bearer b");
    let typed = to(RIGHT).with("Content-Type", "text/plain");
    let other_job = to(RIGHT).with("X-Service-Job-Id", "job_2");
    let rows = vec![
        open("the right capability", to(RIGHT)),
        open("the right capability and a wrong token", bearing("Bearer guess")),
        open("the right capability and two tokens", twice),
        open("a capability of the key before", to(OLDER_KEY)),
        stranger("a capability of another key", to(FOREIGN_KEY)),
        stranger("an expired capability", to(EXPIRED)),
        stranger("a capability with another intent", to(OTHER_INTENT)),
        stranger("a capability with another expiry", to(LATER)),
        stranger("a capability in upper case", to(UPPER_CASE)),
        stranger("a capability that was cut", to(CUT)),
        stranger("a capability that was percent-encoded", to(&escaped)),
        stranger("no capability at all", to("articles")),
        stranger("a token and no capability", delivery().segment("articles")),
        refused(
            "GET to a capability",
            to(RIGHT).method("GET").bodyless(),
            METHOD_NOT_ALLOWED,
            Told::Nothing,
        ),
        refused("text to a capability", typed, UNSUPPORTED, Job("job_1")),
        kept("a capability and two jobs", other_job, MISMATCH, Told::NoJob)
            .job("job_2")
            .target("capability")
            .intent("order-17"),
    ];
    let rows = rows.into_iter();
    rows.map(|row| row.at(Site::Capability).extract(Promise::Nothing)).collect()
}

fn open(situation: &'static str, request: Request) -> Row {
    let row = let_in(situation, request).replied(STORED);
    row.target("capability").intent("order-17")
}
