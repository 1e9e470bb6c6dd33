use std::{
    future::{pending, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use article_webhook::{
    Answer, Delivery, Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake, SinkFuture},
};
use bytes::Bytes;

use crate::{canary::Canaries, site::Site, situation::Situation};

/// What the core makes of a situation at a site, as text. `second` is the time of day for the log, in
/// which strangers have one line a second.
pub(crate) fn shown(canaries: &Canaries, site: Site, situation: &Situation, second: u64) -> String {
    let receiver = site.receiver(canaries);
    let (method, headers) = (situation.method, situation.post.headers());
    let now = SystemTime::now();
    let opened = if site == Site::Capability {
        let (key, segment) = Site::capability(canaries);
        receiver.open_capability_request(&key, method, &format!("/{segment}"), now, headers)
    } else {
        receiver.open_request(method, headers)
    };
    let now = now + Duration::from_secs(second);
    if Site::EXTRACTORS.contains(&site) {
        let article = receive_body(&receiver, opened, situation, now, Intake::article);
        return format!("{article:?} {:?}", article.as_ref().map_err(Refused::answer));
    }
    let received = receive_body(&receiver, opened, situation, now, Intake::read);
    let shown = match &received {
        Ok(delivery) => format!("{delivery:?}"),
        Err(refused) => format!("{refused} {refused:?}"),
    };
    format!("{shown} {:?}", answer(&receiver, site, received))
}

fn receive_body<T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    situation: &Situation,
    now: SystemTime,
    read: fn(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let body = situation.post.bytes();
    let sent = body.len() - situation.missing;
    let mut halves = Halves {
        left: vec![body.slice(sent / 2..sent), body.slice(..sent / 2)],
        torn: situation.missing > 0,
    };
    let no_timer = |_| pending();
    let received = adapter::receive_body(receiver, opened, &mut halves, no_timer, now, read);
    poll_once(received).expect("the body is there")
}

fn answer(receiver: &Receiver, site: Site, received: Result<Delivery, Refused>) -> Option<Answer> {
    let spawn = |work: SinkFuture| {
        let ended = catch_unwind(AssertUnwindSafe(|| poll_once(work)));
        async move {
            match ended {
                Ok(Some(reply)) => Ok(reply),
                Ok(None) => pending().await,
                Err(_panic) => Err(()),
            }
        }
    };
    poll_once(adapter::dispatch(receiver, received, Arc::new(site), spawn, |_| ready(())))
}

struct Halves {
    /// The last one first.
    left: Vec<Bytes>,
    torn: bool,
}

impl BodySource for Halves {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        let torn = self.torn.then_some(Err(BodyError::Incomplete));
        self.left.pop().map(Ok).or(torn)
    }
}

pub(crate) fn poll_once<T>(work: impl Future<Output = T>) -> Option<T> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
