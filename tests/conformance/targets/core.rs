use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::SystemTime,
};

use article_webhook::{
    Answer, Delivery, Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake, RetryReason, SinkFuture},
};
use bytes::Bytes;

use crate::{
    answers,
    application::Application,
    call_log::Ledger,
    connection::Silence,
    exchange::{Exchange, Fate, Heard},
    request::Request,
    row::{Outcome, Promise, Row},
    run::Target,
    site::{self, Site, Style},
};

/// The core without framework, socket, runtime or clock: the smallest possible adapter.
#[derive(Debug, Default)]
pub(crate) struct Core {
    ledger: Ledger,
}

impl Target for Core {
    fn name(&self) -> &'static str {
        "core"
    }

    fn handled(&self) -> answers::Answer {
        answers::Answer { status: 200, headers: &[], body: "" }
    }

    fn styles(&self) -> Vec<Style> {
        vec![Style::Receive, Style::Extract]
    }

    fn owes(&self, promise: Promise) -> Option<Outcome> {
        match promise {
            Promise::Everywhere(outcome) => Some(outcome),
            Promise::Framework { .. } | Promise::Nothing => None,
        }
    }

    fn exchange(&self, style: Style, row: &Row) -> (Exchange, String) {
        let (site, request) = (row.site, &row.request);
        let receiver = site.receiver();
        let application = site.application(&self.ledger);
        let answer = match style {
            Style::Receive => {
                let opened = open(site, &receiver, request);
                match receive_body(site, &receiver, opened, request, Intake::read) {
                    Some(received) => Ok(Some(dispatch(&receiver, application, received))),
                    None => Err(Silence::Late),
                }
            }
            _ => {
                let opened = receiver.open(&request.headers()[..]);
                match receive_body(site, &receiver, opened, request, Intake::article) {
                    Some(Ok((result, _))) => match poll_once(application.handle(result)) {
                        Ended::Returned(Ok(())) => Ok(None),
                        Ended::Returned(Err(reason)) => Ok(Some(RetryReason::of(reason).answer())),
                        Ended::Panicked | Ended::Pending => panic!("nothing is owed here"),
                    },
                    Some(Err(refused)) => Ok(Some(refused.answer())),
                    None => Err(Silence::Late),
                }
            }
        };
        let closes = |answer: Answer| answer.headers().any(|(name, _)| name == "connection");
        let connection = match answer {
            Ok(Some(answer)) if closes(answer) => Fate::Closed,
            Ok(_) => Fate::Usable,
            Err(_) => Fate::LeftOpen,
        };
        let heard = answer.map(|answer| self.heard(answer, &request.method));
        let exchange = Exchange { answer: heard, connection, ledger: self.ledger.take() };
        (exchange, format!("{answer:?}"))
    }
}

impl Core {
    fn heard(&self, answer: Option<Answer>, method: &str) -> Heard {
        let Some(answer) = answer else {
            return Heard::expected(self.handled(), method);
        };
        let headers = answer.headers().filter(|&(name, _)| name != "connection");
        let mut headers: Vec<_> =
            headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        headers.sort();
        let body = if method == "HEAD" { "" } else { answer.body() };
        Heard {
            status: answer.status().as_u16(),
            headers,
            length: Some(answer.body().len()),
            body: body.to_owned(),
        }
    }
}

fn open(site: Site, receiver: &Receiver, request: &Request) -> Result<Envelope, Refused> {
    let (method, headers) = (&*request.method, request.headers());
    if site == Site::Capability {
        let (path, now) = (request.path("/capability"), SystemTime::now());
        return receiver.open_capability_request(
            &site::capability_key(),
            method,
            &path,
            now,
            &headers[..],
        );
    }
    receiver.open_request(method, &headers[..])
}

/// `None` if the body does not arrive.
fn receive_body<T>(
    site: Site,
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    request: &Request,
    read: fn(Intake) -> Result<T, Refused>,
) -> Option<Result<T, Refused>> {
    let left = request.pieces().into_iter();
    let layer_limit = if site == Site::SmallLayer { site::SMALL } else { usize::MAX };
    let mut pieces = Pieces { request, left, layer_limit };
    // The deadline of the body is over as soon as the body is waited for, and no other ever is.
    let sleep = |time| async move {
        if time != site::DEADLINE {
            std::future::pending::<()>().await;
        }
    };
    let now = SystemTime::now();
    match poll_once(adapter::receive_body(receiver, opened, &mut pieces, sleep, now, read)) {
        Ended::Returned(result) => Some(result),
        Ended::Pending => None,
        Ended::Panicked => panic!("the core does not panic"),
    }
}

/// The part of a request's body that is sent.
struct Pieces<'a> {
    request: &'a Request,
    left: std::vec::IntoIter<Bytes>,
    /// How many bytes another layer still lets through.
    layer_limit: usize,
}

impl BodySource for Pieces<'_> {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        match self.left.next() {
            Some(piece) => {
                let left = self.layer_limit.checked_sub(piece.len());
                self.layer_limit = left.unwrap_or(0);
                Some(left.map(|_| piece).ok_or(BodyError::LimitedByLayer))
            }
            None if self.request.is_whole() => None,
            None if self.request.ends_early() => Some(Err(BodyError::Incomplete)),
            None => std::future::pending().await,
        }
    }
}

fn dispatch(
    receiver: &Receiver,
    application: Application,
    received: Result<Delivery, Refused>,
) -> Answer {
    let spawn = |work: SinkFuture| {
        let ended = poll_once(work);
        async move {
            match ended {
                Ended::Returned(reply) => Ok(reply),
                Ended::Panicked => Err(()),
                // Pending work is never woken, so it misses any deadline.
                Ended::Pending => std::future::pending().await,
            }
        }
    };
    let sink = Arc::new(application);
    let over = |_| std::future::ready(());
    match poll_once(adapter::dispatch(receiver, received, sink, spawn, over)) {
        Ended::Returned(answer) => answer,
        Ended::Panicked | Ended::Pending => panic!("the deadline is over at once"),
    }
}

enum Ended<T> {
    Returned(T),
    Panicked,
    Pending,
}

fn poll_once<T>(work: impl Future<Output = T>) -> Ended<T> {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut context))) {
        Ok(Poll::Ready(value)) => Ended::Returned(value),
        Ok(Poll::Pending) => Ended::Pending,
        Err(_panic) => Ended::Panicked,
    }
}
