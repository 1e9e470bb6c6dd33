//! Connections that are slow, cut, or used in ways that HTTP allows and few senders do.

use std::time::Duration;

use super::{
    super::{
        case::{Act, Case},
        connection::{Connection, exchange},
        finding::Verdict,
        heard::{Answer, Heard},
        judge::Expect,
        sample::Sample,
    },
    deliveries::taken,
};

pub(super) fn slow() -> Vec<Case> {
    vec![
        taken(
            "in slow pieces",
            "the delivery in eight pieces, 100 ms apart",
            "give a body at least 10 s to arrive",
            Act::Send(|sample| sample.delivery().in_pieces(8)),
        ),
        taken(
            "Expect: 100-continue",
            "the headers first, the body after the receiver's 100 or a second",
            "let the server answer 100 Continue, and read the body in any case",
            Act::Play(|sample| Box::pin(expecting(sample))),
        ),
        taken(
            "two on one connection",
            "a second delivery after the first one's answer",
            "read a request's body to its end, or close the connection and say so",
            Act::Play(|sample| Box::pin(in_turn(sample))),
        ),
        taken(
            "two without waiting",
            "a second delivery before the first one's answer",
            "answer requests on a connection one after the other, or close it and say so",
            Act::Play(|sample| Box::pin(pipelined(sample))),
        )
        .advising(),
        Case {
            name: "too long to be taken",
            sent: "8 GiB declared, and nothing of it",
            expect: Expect::Refused(413),
            otherwise: Verdict::Advice,
            why: "whoever waits for the body learns too late that it cannot be taken",
            fix: "compare the declared length with the limit before the body is read",
            act: Act::Send(|sample| sample.delivery().declaring(8 << 30)),
        },
        Case {
            name: "two lengths",
            sent: "two Content-Length headers that differ",
            expect: Expect::NotTaken,
            otherwise: Verdict::Advice,
            why: "where a proxy and the receiver disagree about the end, requests can be smuggled in between",
            fix: "let the server refuse such requests, as RFC 9112 demands (section 6.3)",
            act: Act::Send(|sample| sample.delivery().with("Content-Length", "2")),
        },
        Case {
            name: "cut in the middle",
            sent: "the headers, half of the body, and the end of the stream",
            expect: Expect::NotTaken,
            otherwise: Verdict::Fail,
            why: "a 2xx for half an article ends the matter, and the other half never comes",
            fix: "compare what was read with the declared length",
            act: Act::Play(|sample| Box::pin(cut(sample))),
        },
        taken(
            "whole after it was cut",
            "half of the delivery, and on another connection the whole",
            "remember a job only once its article is stored whole",
            Act::Play(|sample| {
                Box::pin(async move {
                    cut(sample.clone()).await;
                    vec![exchange(&sample.site, &sample.delivery()).await]
                })
            }),
        ),
    ]
}

async fn expecting(sample: Sample) -> Vec<Heard> {
    let request = sample.delivery().with("Expect", "100-continue");
    let mut connection = match Connection::open(&sample.site).await {
        Ok(connection) => connection,
        Err(heard) => return vec![heard],
    };
    connection.send(&request.head()).await;
    connection.wait(Duration::from_secs(1)).await;
    connection.send(&request.bytes()[request.head().len()..]).await;
    vec![connection.answer(request.method).await]
}

/// A second delivery, about another job, beside the sample's.
fn another(sample: &Sample) -> Sample {
    Sample { job_id: format!("{}-2", sample.job_id), ..sample.clone() }
}

async fn in_turn(sample: Sample) -> Vec<Heard> {
    let mut connection = match Connection::open(&sample.site).await {
        Ok(connection) => connection,
        Err(heard) => return vec![heard],
    };
    let first = connection.exchange(&sample.delivery()).await;
    let second = another(&sample).delivery();
    let second = if is_last(&first) {
        exchange(&sample.site, &second).await
    } else {
        connection.exchange(&second).await
    };
    vec![first, second]
}

async fn pipelined(sample: Sample) -> Vec<Heard> {
    let mut connection = match Connection::open(&sample.site).await {
        Ok(connection) => connection,
        Err(heard) => return vec![heard],
    };
    let (first, second) = (sample.delivery(), another(&sample).delivery());
    connection.send(&[first.bytes(), second.bytes()].concat()).await;
    let first = connection.answer("POST").await;
    let second = if is_last(&first) {
        exchange(&sample.site, &second).await
    } else {
        connection.answer("POST").await
    };
    vec![first, second]
}

async fn cut(sample: Sample) -> Vec<Heard> {
    let mut connection = match Connection::open(&sample.site).await {
        Ok(connection) => connection,
        Err(heard) => return vec![heard],
    };
    connection.send(&sample.delivery().first_half()).await;
    connection.finish().await;
    vec![connection.answer("POST").await]
}

fn is_last(heard: &Heard) -> bool {
    matches!(heard, Heard::Answer(Answer { is_last: true, .. }))
}
