use std::{pin::Pin, sync::Arc, time::Duration};

use super::{Sink, report_refusal, timeout::before};
use crate::{
    answer::{Answer, Refused, Reply},
    log::{self, CurrentDelivery, InDelivery},
    receiver::{Delivery, Receiver},
};

/// The work of a sink on one delivery, for the runtime to run in a task of its own.
pub type SinkFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Passes a delivery to the sink and waits for its reply, or reports the refusal to the sink, and waits until it has kept a
/// [refused body](Refused::body). Returns the answer for the sender.
///
/// `received` is the result of [`receive_body`](super::receive_body) with
/// [`Intake::read`](super::Intake::read). `spawn` runs the sink in a task of its own on the runtime: a
/// sender that disconnects cannot stop the sink's work halfway. An error of the task means that the sink
/// panicked (500). `sleep` is the runtime's timer and limits the wait to
/// [`answer_deadline`](Receiver::answer_deadline); after that the answer is 503, and the task continues.
pub async fn dispatch<S, T, E, W>(
    receiver: &Receiver,
    received: Result<Delivery, Refused>,
    sink: Arc<S>,
    spawn: impl FnOnce(SinkFuture) -> T,
    sleep: impl FnOnce(Duration) -> W,
) -> Answer
where
    S: Sink + 'static,
    T: Future<Output = Result<Reply, E>>,
    W: Future<Output = ()>,
{
    let delivery = match received {
        Ok(delivery) => delivery,
        Err(refused) => {
            let answer = refused.answer();
            if refused.body().is_none() {
                report_refusal(&refused, |refused| sink.refused(refused));
                return answer;
            }
            let job_id = refused.body().map(|body| body.job_id().clone());
            let keep = spawn(Box::pin(async move {
                sink.keep_refused(refused).await;
                Reply::Ignored
            }));
            match before(|| sleep(receiver.answer_deadline()), keep).await {
                Some(Ok(_)) => {}
                Some(Err(_)) => log::refusal_report_panicked(job_id.as_ref()),
                None => log::failed(
                    "the sink did not keep a refused body in time, and continues",
                    job_id.as_ref(),
                ),
            }
            return answer;
        }
    };
    let job_id = delivery.job_id().clone();
    let current = Arc::new(CurrentDelivery::of(&job_id));
    let accept = Box::pin(async move { sink.accept(delivery).await });
    let task = spawn(Box::pin(InDelivery::new(accept, Arc::clone(&current))));
    match before(|| sleep(receiver.answer_deadline()), task).await {
        Some(Ok(reply)) => {
            if matches!(reply, Reply::Retry | Reply::Unavailable) && !current.has_logged_a_retry() {
                log::sink_asks_for_a_retry(reply, &job_id);
            }
            reply.into()
        }
        Some(Err(_)) => {
            log::failed("the sink panicked", Some(&job_id));
            Answer::internal_error()
        }
        None => {
            log::failed("the sink did not reply in time, and continues", Some(&job_id));
            Reply::Unavailable.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        pin::pin,
        sync::Mutex,
        task::{Context, Poll, Waker},
    };

    use super::*;
    use crate::AuthToken;

    const HEADERS: [(&str, &str); 2] =
        [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json")];

    #[test]
    fn a_refused_body_is_kept_before_the_refusal_is_answered() {
        struct Keeps(Mutex<Vec<usize>>);

        impl Sink for Keeps {
            async fn accept(&self, _: Delivery) -> Reply {
                Reply::Stored
            }

            fn refused(&self, _: &Refused) {
                self.0.lock().unwrap().push(0);
            }

            async fn keep_refused(&self, refused: Refused) {
                self.0.lock().unwrap().push(refused.body().unwrap().bytes().len());
            }
        }

        let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap());
        let sink = Arc::new(Keeps(Mutex::default()));
        let mut spawned: Vec<SinkFuture> = Vec::new();
        let id = [("X-Service-Job-Id", "job_1")];
        for (headers, task) in [
            ([&HEADERS[..], &id].concat(), Some(Ok(Reply::Ignored))),
            ([&HEADERS[..], &id].concat(), Some(Err(()))),
            ([&HEADERS[..], &id].concat(), None),
            (HEADERS.to_vec(), None), // of no job
        ] {
            let received = receiver.open(&headers).and_then(|envelope| envelope.read("{"));
            let spawn = |work| {
                spawned.push(work);
                async move {
                    match task {
                        Some(ended) => ended,
                        None => pending().await,
                    }
                }
            };
            let answer =
                pin!(dispatch(&receiver, received, Arc::clone(&sink), spawn, |_| ready(())));
            let Poll::Ready(answer) = answer.poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("the answer is pending");
            };
            assert_eq!(
                (answer.status().as_u16(), answer.body().contains("malformed_json")),
                (400, true)
            );
        }
        for work in &mut spawned {
            assert!(work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
        assert_eq!(*sink.0.lock().unwrap(), [0, 1, 1, 1]);
    }
}
