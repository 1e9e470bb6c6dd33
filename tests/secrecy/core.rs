use std::{
    future::{Future, pending, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use article_webhook::{
    Answer, Broken, Chunks, Delivery, Envelope, Intake, Receiver, Refused, Reply, Sink,
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
        let article = carry(&receiver, opened, situation, now, Intake::article);
        return format!("{article:?} {:?}", article.as_ref().map_err(Refused::answer));
    }
    match carry(&receiver, opened, situation, now, Intake::read) {
        Ok(delivery) => answer(&receiver, site, delivery),
        Err(refused) => {
            refused.report_to(&site);
            format!("{refused} {refused:?} {:?}", refused.answer())
        }
    }
}

fn carry<T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    situation: &Situation,
    now: SystemTime,
    read: fn(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let body = situation.post.body();
    let sent = body.len() - situation.missing;
    let mut halves = Halves {
        left: vec![body.slice(sent / 2..sent), body.slice(..sent / 2)],
        torn: situation.missing > 0,
    };
    let carried = receiver.carry(opened, &mut halves, |_| pending(), now, read);
    poll_once(carried).expect("the body is there")
}

fn answer(receiver: &Receiver, site: Site, delivery: Delivery) -> String {
    let job_id = delivery.job_id().clone();
    let shown = format!("{delivery:?}");
    let accepted = AssertUnwindSafe(|| poll_once(site.accept(delivery)));
    let answer: Option<Answer> = match catch_unwind(accepted) {
        Ok(Some(reply)) => {
            poll_once(receiver.wait(&job_id, ready(Ok::<Reply, ()>(reply)), |_| pending()))
        }
        Ok(None) => {
            poll_once(receiver.wait(&job_id, pending::<Result<Reply, ()>>(), |_| ready(())))
        }
        Err(_panic) => poll_once(receiver.wait(&job_id, ready(Err(())), |_| pending())),
    };
    format!("{shown} {answer:?}")
}

struct Halves {
    /// The last one first.
    left: Vec<Bytes>,
    torn: bool,
}

impl Chunks for Halves {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        let torn = self.torn.then_some(Err(Broken::Early));
        self.left.pop().map(Ok).or(torn)
    }
}

fn poll_once<T>(work: impl Future<Output = T>) -> Option<T> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
