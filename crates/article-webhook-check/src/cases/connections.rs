//! Connections that are slow, are cut, or use HTTP in an unusual way.

use std::time::Duration;

use super::{
    case::{Action, Case},
    deliveries::accepted,
    expectation::Expectation,
    sample::Sample,
};
use crate::{
    Verdict,
    http::{Connection, OVER_THE_LIMIT, Observed, Response, exchange},
};

pub(super) fn slow() -> Vec<Case> {
    vec![
        accepted(
            "in slow pieces",
            "the delivery in eight pieces, 100 ms apart",
            "give a body at least 10 s to arrive",
            Action::Send(|sample| sample.delivery().in_pieces(8)),
        ),
        accepted(
            "Expect: 100-continue",
            "the headers, and the body after the receiver's 100 or after a second",
            "let the server answer 100 Continue, and read the body in either case",
            Action::Run(|sample| Box::pin(expect_continue(sample))),
        ),
        accepted(
            "two on one connection",
            "a second delivery after the first one's answer",
            "read a request's body to its end, or close the connection and say so",
            Action::Run(|sample| Box::pin(one_after_the_other(sample))),
        ),
        accepted(
            "two without waiting",
            "a second delivery before the first one's answer",
            "answer requests on a connection one after the other, or close it and say so",
            Action::Run(|sample| Box::pin(pipelined(sample))),
        )
        .advisory(),
        Case {
            name: "too long to be accepted",
            sent: "a declared length of 8 GiB, and no body",
            expect: Expectation::Refused(OVER_THE_LIMIT),
            severity: Verdict::Advice,
            why: "a receiver that waits for the body learns too late that it cannot accept it",
            fix: "compare the declared length with the limit before the body is read",
            action: Action::Send(|sample| sample.delivery().declaring(8 << 30)),
        },
        Case {
            name: "two lengths",
            sent: "two Content-Length headers that differ",
            expect: Expectation::NotAccepted,
            severity: Verdict::Advice,
            why: "where a proxy and the receiver disagree about the end of a body, requests can be smuggled",
            fix: "let the server refuse such requests, as RFC 9112, section 6.3, requires",
            action: Action::Send(|sample| sample.delivery().with("Content-Length", "2")),
        },
        Case {
            name: "cut in the middle",
            sent: "the headers, half of the body, and then the end of the stream",
            expect: Expectation::NotAccepted,
            severity: Verdict::Fail,
            why: "after a 2xx for half an article the service does not send it again",
            fix: "compare the length of what was read with the declared length",
            action: Action::Run(|sample| Box::pin(cut_in_the_middle(sample))),
        },
        accepted(
            "whole after a cut",
            "half of the delivery, and on another connection all of it",
            "record a job only when its whole article is stored",
            Action::Run(|sample| {
                Box::pin(async move {
                    cut_in_the_middle(sample.clone()).await;
                    vec![exchange(&sample.endpoint, &sample.delivery()).await]
                })
            }),
        ),
    ]
}

async fn expect_continue(sample: Sample) -> Vec<Observed> {
    let request = sample.delivery().with("Expect", "100-continue");
    let mut connection = match Connection::open(&sample.endpoint).await {
        Ok(connection) => connection,
        Err(observed) => return vec![observed],
    };
    connection.send(&request.head()).await;
    connection.wait_for_bytes(Duration::from_secs(1)).await;
    connection.send(&request.bytes()[request.head().len()..]).await;
    vec![connection.response(request.method).await]
}

/// The same endpoint with another job.
fn another(sample: &Sample) -> Sample {
    Sample { job_id: format!("{}-2", sample.job_id), ..sample.clone() }
}

async fn one_after_the_other(sample: Sample) -> Vec<Observed> {
    let (first, second) = (sample.delivery(), another(&sample).delivery());
    let mut connection = match Connection::open(&sample.endpoint).await {
        Ok(connection) => connection,
        Err(observed) => return vec![observed],
    };
    let (first, _) = connection.exchange(first.method, &first.pieces()).await;
    let second = if closes(&first) {
        exchange(&sample.endpoint, &second).await
    } else {
        connection.exchange(second.method, &second.pieces()).await.0
    };
    vec![first, second]
}

async fn pipelined(sample: Sample) -> Vec<Observed> {
    let (first, second) = (sample.delivery(), another(&sample).delivery());
    let both = [first.bytes(), second.bytes()].concat();
    let mut connection = match Connection::open(&sample.endpoint).await {
        Ok(connection) => connection,
        Err(observed) => return vec![observed],
    };
    connection.send(&both).await;
    let first = connection.response("POST").await;
    let second = if closes(&first) {
        exchange(&sample.endpoint, &second).await
    } else {
        connection.response("POST").await
    };
    vec![first, second]
}

async fn cut_in_the_middle(sample: Sample) -> Vec<Observed> {
    let half = sample.delivery().first_half();
    let mut connection = match Connection::open(&sample.endpoint).await {
        Ok(connection) => connection,
        Err(observed) => return vec![observed],
    };
    connection.send(&half).await;
    connection.shut_down_writing().await;
    vec![connection.response("POST").await]
}

fn closes(observed: &Observed) -> bool {
    matches!(observed, Observed::Response(Response { closes: true, .. }))
}
