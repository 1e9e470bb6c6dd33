use crate::{
    answers::{INCOMPLETE, MALFORMED, TIMEOUT, TOO_LARGE},
    request::{ARTICLE, Request, delivery, with_field},
    row::{Row, Told::Job, let_in, refused, stranger},
    site::{SMALL, Site},
};

const MIB: usize = 1 << 20;

pub(super) fn rows() -> Vec<Row> {
    [limits(), small(), small_layer(), early_ends(), late(), strangers()].concat()
}

/// An article with a body that is padded to `bytes` bytes.
fn padded(bytes: usize) -> Request {
    let padding = bytes - ARTICLE.len() - r#","pad":"""#.len();
    with_field([r#""pad":""#, &"x".repeat(padding), "\""].concat())
}

/// The default limit is ours: the 2 MB of axum and the 256 KiB of actix-web do not bind.
fn limits() -> Vec<Row> {
    let too_large = |situation, bytes| {
        refused(situation, delivery().unsent(bytes), TOO_LARGE, Job("job_1")).closing()
    };
    vec![
        let_in("3 MiB", padded(3 * MIB)),
        let_in("3 MiB in chunks", padded(3 * MIB).chunked(10_000)),
        let_in("8 MiB, the default limit", padded(8 * MIB)),
        too_large("8 MiB and a byte, declared", 8 * MIB as u64 + 1),
        too_large("an absurd length, declared", 1 << 60),
    ]
}

fn small() -> Vec<Row> {
    let over = |situation, request| refused(situation, request, TOO_LARGE, Job("job_1")).closing();
    let declared = delivery().unsent(SMALL as u64 + 1);
    let spaced = delivery().body([ARTICLE, &" ".repeat(SMALL + 1 - ARTICLE.len())].concat());
    let rows = vec![
        let_in("as long as the limit", padded(SMALL)),
        let_in("as long as the limit, in chunks", padded(SMALL).chunked(7)),
        let_in("as long as the limit, in one chunk", padded(SMALL).chunked(SMALL)),
        let_in("as long as the limit, in chunks of a byte", padded(SMALL).chunked(1)),
        over("a limit over the limit, declared, and cut", delivery().short(SMALL)),
        over("over the limit without an end", padded(2 * SMALL).unfinished()),
        over("a byte over the limit, of white space", spaced.clone()),
        over("a byte over the limit, of white space, in chunks", spaced.chunked(1)),
        over("a byte over the limit, declared and not sent", declared),
        over("a byte over the limit, declared and sent", padded(SMALL + 1)),
        over("a byte over the limit, in one chunk", padded(SMALL + 1).chunked(SMALL + 1)),
        over("a byte over the limit, in chunks", padded(SMALL + 1).chunked(7)),
        over("far over the limit, in chunks", padded(10 * SMALL).chunked(100)),
    ];
    rows.into_iter().map(|row| row.at(Site::Small)).collect()
}

/// The limit of another layer is not ours to answer for, but its cause is named and the sink is told.
fn small_layer() -> Vec<Row> {
    let over = |situation, request| refused(situation, request, TOO_LARGE, Job("job_1")).closing();
    let rows = vec![
        let_in("as long as another layer's limit", padded(SMALL)),
        let_in("as long as another layer's limit, in chunks", padded(SMALL).chunked(7)),
        over("over another layer's limit", padded(SMALL + 1)),
        over("over another layer's limit, in chunks", padded(SMALL + 1).chunked(7)),
        over("over another layer's limit without an end", padded(2 * SMALL).unfinished()),
        stranger("a stranger over another layer's limit", wrong(padded(2 * SMALL))).closing(),
    ];
    rows.into_iter().map(|row| row.at(Site::SmallLayer)).collect()
}

/// The sender keeps the connection, and sends no more.
fn late() -> Vec<Row> {
    let late = |situation, request| refused(situation, request, TIMEOUT, Job("job_1")).closing();
    let rows = vec![
        let_in("a body in time", delivery()),
        let_in("a body in time, in chunks", delivery().chunked(30)),
        late("a body that never comes", delivery().unsent(40)),
        late("all but a byte of a body", delivery().stalled(1)),
        late("half a body", delivery().body(&ARTICLE[..40]).stalled(47)),
        late("a whole object and no last chunk", delivery().stalled_in_chunks()),
    ];
    rows.into_iter().map(|row| row.at(Site::Hasty)).collect()
}

fn early_ends() -> Vec<Row> {
    let early =
        |situation, request| refused(situation, request, INCOMPLETE, Job("job_1")).closing();
    vec![
        early("a byte less than declared", delivery().short(1)),
        early("a body that was cut in the middle", delivery().body(&ARTICLE[..40]).short(40)),
        early("no byte of those declared", delivery().body("").short(40)),
        early("no last chunk", delivery().unfinished()),
        early("half an object and no last chunk", delivery().body(&ARTICLE[..40]).unfinished()),
        early("malformed, and a byte less than declared", delivery().body("}").short(1)),
        early("a megabyte less than declared", delivery().short(MIB)),
        refused(
            "nothing declared and nothing sent",
            delivery().bodyless(),
            MALFORMED,
            Job("job_1"),
        ),
    ]
}

fn wrong(request: Request) -> Request {
    request.with("Authorization", "Bearer guess")
}

/// What is left of a stranger's body is dropped if it is short; else the connection is.
fn strangers() -> Vec<Row> {
    let kept = 64 << 10;
    let announced = |request: Request| request.with("Expect", "100-continue");
    vec![
        stranger("a stranger's 64 KiB", wrong(padded(kept))),
        stranger("a stranger's 64 KiB in chunks", wrong(padded(kept).chunked(1000))),
        stranger("a stranger's 64 KiB and a byte", wrong(delivery().unsent(kept as u64 + 1)))
            .closing(),
        stranger("a stranger's length over the limit", wrong(delivery().unsent(1 << 30))).closing(),
        stranger("a stranger's announced body", wrong(announced(delivery()))).closing(),
        stranger("a stranger who asks for something else", wrong(delivery().with("Expect", "x")))
            .closing(),
        stranger("a stranger's empty body", wrong(delivery().body(""))),
        stranger("a stranger's empty body in chunks", wrong(delivery().body("").chunked(1))),
        stranger("a stranger's 64 KiB and a byte in chunks", wrong(padded(kept + 1).chunked(1000)))
            .closing(),
        let_in("an announced body that came at once", announced(delivery())),
        let_in("an announcement of something else", delivery().with("Expect", "x")),
    ]
}
