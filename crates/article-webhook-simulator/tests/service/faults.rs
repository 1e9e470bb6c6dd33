//! Faults of deliveries, with the service without sockets and the receiver of the core.

use article_webhook::{AuthToken, Receiver};
use article_webhook_simulator::{DeliveryOutcome, Fault, Rule, Settings, StatusCode};

use crate::common::{Api, Sent, TOKEN, seconds, settings, shoes};

/// The deliveries of one job to the receiver of the core.
fn deliveries(rule: Rule) -> (Api, Vec<Sent>) {
    let mut api = Api::new(Settings { faults: vec![rule], ..settings() });
    api.ordered(&shoes());
    let receiver = Receiver::new(AuthToken::new(TOKEN).unwrap());
    let sent = api.run(seconds(24 * 3600), |push| {
        let request = push.request();
        let read = receiver
            .open(request.headers())
            .and_then(|envelope| envelope.read(request.body().clone()));
        DeliveryOutcome::status(
            read.map_or_else(|refused| refused.answer().status(), |_| StatusCode::OK),
        )
    });
    (api, sent)
}

fn statuses(rule: Rule) -> Vec<u16> {
    let (api, _) = deliveries(rule);
    let attempts = api.service.attempts().into_iter();
    attempts.map(|attempt| attempt.outcome.answer.unwrap().status.as_u16()).collect()
}

#[test]
fn after_a_fault_of_the_first_attempt_the_second_succeeds() {
    for (fault, statuses_seen) in [
        (Fault::Duplicate, vec![200, 200]),
        (Fault::Late(seconds(3600)), vec![200]),
        (Fault::AnswerLost, vec![200, 200]),
        (Fault::WrongToken, vec![401, 200]),
        (Fault::MissingToken, vec![401, 200]),
        (Fault::Truncated, vec![400, 200]),
        (Fault::Oversized(9 << 20), vec![413, 200]),
        (Fault::Slow(seconds(1)), vec![200]),
        (Fault::UnknownEvent, vec![200]),
        (Fault::UnknownFields, vec![200]),
        (Fault::MissingOptionalFields, vec![200]),
        (Fault::JobIdMismatch, vec![422, 200]),
        (Fault::Chunked, vec![200]),
    ] {
        assert_eq!(statuses(Rule::new(fault).attempt(1)), statuses_seen, "{fault:?}");
    }
}

#[test]
fn a_duplicate_comes_at_the_same_time_and_is_not_retried() {
    let mut api =
        Api::new(Settings { faults: vec![Rule::new(Fault::Duplicate).attempt(1)], ..settings() });
    api.ordered(&shoes());
    let sent = api.run(seconds(3600), |_| DeliveryOutcome::status(StatusCode::SERVICE_UNAVAILABLE));
    let first = sent[0].at;
    let seen: Vec<_> =
        sent.iter().map(|sent| (sent.push.attempt(), (sent.at - first).as_secs())).collect();
    assert_eq!(seen, [(1, 0), (1, 0), (2, 10), (3, 70), (4, 370)]);
}

#[test]
fn an_unknown_event_changes_the_header_and_nothing_else() {
    let (_, sent) = deliveries(Rule::new(Fault::UnknownEvent));
    let (_, plain) = deliveries(Rule::new(Fault::Chunked));
    let (odd, plain) = (sent[0].push.request(), plain[0].push.request());
    assert_eq!(odd.headers()["x-service-event"], "article.updated");
    assert_eq!(odd.body(), plain.body());
}
