use article_webhook_inbox::{Body, Entry, State};
use bytes::Bytes;

use crate::{
    failure::Failure,
    text::{command, escape},
};

/// The body of an entry that its handler gets.
pub(super) fn handed<'a>(entry: &Entry, bodies: &'a [Body]) -> Result<&'a Bytes, Failure> {
    let handed = entry.key.handed(bodies).and_then(|index| bodies[index].bytes.as_ref());
    handed.ok_or_else(|| {
        let job = entry.key.job_id.as_str();
        let why = match bodies.iter().any(|body| body.bytes.is_some()) {
            true => "every body is damaged",
            false if entry.state == State::Done => "retention has removed the bodies",
            false => "there is no body",
        };
        Failure::nothing_matched(format!("{why} of {}", escape::line(job)))
            .fix(format!("get the article from the service: {}", command::get(job)))
    })
}
