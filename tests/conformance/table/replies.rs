use crate::{
    answers::{DUPLICATE, IGNORED, INTERNAL, MALFORMED, RETRY_LATER, STORED, UNAVAILABLE},
    call_log::Entry,
    request::delivery,
    row::{Outcome, Promise, Reply, Row, Told::Job, kept, let_in},
    site::Site,
};

/// What the application makes of a delivery.
pub(super) fn rows() -> Vec<Row> {
    let handled = |reply| {
        let job_id = "job_1".into();
        Outcome::of(reply).and(Entry::Handled { job_id })
    };
    let again = || Promise::Everywhere(handled(Reply::Answer(RETRY_LATER)));
    // A panic in a handler without the layer is the framework's to catch. Neither does: the service sees
    // a connection that is cut, and comes again.
    let cut = || Promise::Framework { axum: handled(Reply::Cut), actix_web: handled(Reply::Cut) };
    let caught = || Promise::Everywhere(handled(Reply::Answer(INTERNAL)));
    let late = || Promise::Everywhere(handled(Reply::Answer(UNAVAILABLE)));
    let row = |situation, site, answer| let_in(situation, delivery()).at(site).replied(answer);
    vec![
        row("stored", Site::Default, STORED),
        row("stored before", Site::Duplicate, DUPLICATE),
        row("of no interest", Site::Ignored, IGNORED),
        row("later", Site::Retry, RETRY_LATER).extract(again()),
        row("the store is down", Site::Unavailable, UNAVAILABLE).extract(again()),
        row("a panic", Site::Panics, INTERNAL).extract(cut()).layer(caught()),
        row("a panic before the first await", Site::PanicsAtOnce, INTERNAL)
            .extract(cut())
            .layer(caught()),
        kept("a panic at a refusal", delivery().body("{"), MALFORMED, Job("job_1"))
            .at(Site::PanicsAtRefusals),
        // How long a handler may take without the layer is the framework's to say.
        row("no reply in time", Site::Late, UNAVAILABLE).extract(Promise::Nothing).layer(late()),
    ]
}
