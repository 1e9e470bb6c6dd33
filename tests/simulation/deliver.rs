//! The way from the service to the receiver.

use std::sync::Arc;

use article_webhook::{AuthToken, Receiver, adapter::dispatch};
use article_webhook_simulator::{DeliveryOutcome, Push};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio::time::{sleep, timeout};

use crate::{
    api::not_an_article,
    node::Running,
    observed::Route,
    world::{DAY, TOKEN, World},
};

/// What the service sends, and sends again.
pub(crate) async fn deliver_all(world: Arc<World>) {
    loop {
        let now = world.now();
        let next = world.service(|service, _| service.next_due());
        let pause = next.map_or(DAY, |next| next.saturating_sub(now));
        if !pause.is_zero() {
            _ = timeout(pause, world.orders.notified()).await;
        }
        for push in world.service(|service, now| service.due(now)) {
            let outcome = deliver(&world, &push).await;
            world.service(|service, now| service.pushed(now, &push, outcome));
            world.with(|inner| inner.observed.pushes.push(push));
        }
    }
}

/// One attempt at a delivery.
async fn deliver(world: &Arc<World>, push: &Push) -> DeliveryOutcome {
    let id = push.job_id();
    let now = world.now();
    let (is_down, have_ended, call_fault) = world.with(|inner| {
        let is_down = inner.faults.receiver_is_down(now) || inner.observed.undelivered.contains(id);
        (is_down, inner.faults.have_ended, inner.rng.u8(..16))
    });
    if is_down {
        return DeliveryOutcome::failed("no connection");
    }
    match call_fault {
        _ if have_ended => {}
        0 => return DeliveryOutcome::failed("cut"),
        1 => {
            send(world, push, |_, body| body.slice(..body.len() / 2)).await;
            return DeliveryOutcome::failed("cut");
        }
        2 => {
            send(world, push, |_, body| body).await;
            return DeliveryOutcome::failed("the answer was lost");
        }
        3 => {
            return DeliveryOutcome::status(send_undecodable(world, push).await);
        }
        _ => {}
    }
    let status = send(world, push, |_, body| body).await;
    let outcome = DeliveryOutcome::status(status);
    if outcome.is_success() {
        world.with(|inner| {
            let job = inner.observed.job(id);
            job.accepted = true;
            job.accepted_with_intent |= push.url().contains("/orders/");
        });
    }
    outcome
}

/// Sends a request with its body, changed like this, and returns the status.
pub(crate) async fn send(
    world: &Arc<World>,
    push: &Push,
    change: impl FnOnce(&mut HeaderMap, Bytes) -> Bytes,
) -> StatusCode {
    let Some(node) = world.any_node() else { return StatusCode::BAD_GATEWAY };
    let id = push.job_id();
    let (mut parts, body) = push.request().into_parts();
    let body = change(&mut parts.headers, world.sent_body(Route::Pushed, id, body));
    let status = receive(world, &node, &parts.uri, &parts.headers, body).await;
    world.note(&format!("{id} is pushed to {}: {status}", parts.uri.path().len()));
    status
}

/// The receiver of a process, as an adapter runs it.
pub(crate) async fn receive(
    world: &World,
    node: &Running,
    uri: &Uri,
    headers: &HeaderMap,
    body: Bytes,
) -> StatusCode {
    let receiver = Receiver::new(AuthToken::new(TOKEN).expect("the token is valid"));
    let (path, now) = (uri.path(), world.time());
    let opened = match path.starts_with("/orders/") {
        true => receiver.open_capability_request(&world.key, "POST", path, now, headers),
        false => receiver.open_request("POST", headers),
    };
    let received = opened.and_then(|envelope| envelope.read(body));
    let sink = Arc::new(node.inbox.clone());
    dispatch(&receiver, received, sink, tokio::spawn, sleep).await.status()
}

/// Sends a delivery of a job of which no copy can be understood, when nothing fails. It is refused, and kept as it came.
pub(crate) async fn send_unreadable(world: &Arc<World>, push: &Push) {
    let (id, mut sent) = (push.job_id(), Bytes::new());
    let status = send(world, push, |_, body| {
        sent = body.clone();
        body
    })
    .await;
    if !matches!(status.as_u16(), 400 | 422) {
        world.fail(&format!("{id} cannot be understood, and is answered {status}"));
    } else if !world.is_quarantined(id, &sent).await {
        world.fail(&format!("{id} was refused, and its body is not in quarantine"));
    }
    world.with(|inner| inner.observed.job(id).must_be_kept = true);
}

/// A delivery whose body is no article.
pub(crate) async fn send_undecodable(world: &Arc<World>, push: &Push) -> StatusCode {
    let (id, number) = (push.job_id(), world.draw(|rng| rng.u8(1..8)));
    // Also if the answer says otherwise: the body may be stored all the same.
    send(world, push, |_, _| not_an_article(id, number)).await
}

/// A sender that has the token forges the failure of a job by its header.
pub(crate) async fn forge_failure(world: &Arc<World>, push: &Push) {
    let events = ["article.failed", "generation_failed", "generation failed", "failed"];
    let event = world.draw(|rng| events[rng.usize(..events.len())]);
    let forge = |headers: &mut HeaderMap, body| {
        headers.insert("x-service-event", HeaderValue::from_static(event));
        body
    };
    send(world, push, forge).await;
}
