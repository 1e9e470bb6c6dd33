use std::{future::pending, net::SocketAddr};

use actix_web::web;
use article_webhook::{AuthToken, CapabilityKey, Receiver, Sink};
use article_webhook_server::{Server, ServerBody};
use article_webhook_tests::serve;
use axum::{Router, routing::any};
use http::Request;
use tower::{ServiceExt, service_fn};

pub(crate) const TOKEN: &str = "Bearer end-to-end-5f2b9c0e7a1d4e38";

/// What the receiver of a story stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
    /// A tower service on our own server, which stands on hyper.
    Tower,
}

impl Framework {
    pub(crate) const ALL: [Self; 3] = [Self::Axum, Self::ActixWeb, Self::Tower];

    /// Serves a sink on a port of this machine until the process ends: by token on `/webhooks/articles`,
    /// by capability below `/webhooks/orders/`. The answer is what stands in front of both.
    pub(crate) fn serve(self, sink: impl Sink + Clone + 'static) -> String {
        let address = match self {
            Self::Axum => axum(sink),
            Self::ActixWeb => actix_web(sink),
            Self::Tower => tower(sink),
        };
        format!("http://{address}/webhooks")
    }
}

pub(crate) fn capability_key() -> CapabilityKey {
    CapabilityKey::new(b"end-to-end-0123456789abcdef-0123456789").expect("the key is long enough")
}

fn receiver() -> Receiver {
    Receiver::new(AuthToken::new(TOKEN).expect("the token is a legal one"))
}

fn axum(sink: impl Sink + Clone + 'static) -> SocketAddr {
    use article_webhook_axum::{receive, receive_capability};

    let orders = receive_capability(receiver(), capability_key(), sink.clone());
    let app: Router = Router::new()
        .route("/webhooks/articles", any(receive(receiver(), sink)))
        .route("/webhooks/orders/{capability}", any(orders));
    serve::on_a_runtime(|listener| Server::new(listener).serve(app, pending()))
}

fn tower(sink: impl Sink + Clone + 'static) -> SocketAddr {
    use article_webhook_tower::{receive, receive_capability};

    let orders = receive_capability(receiver(), capability_key(), sink.clone());
    let articles = receive(receiver(), sink);
    let app = service_fn(move |request: Request<ServerBody>| {
        let is_order = request.uri().path().starts_with("/webhooks/orders/");
        let service = if is_order { orders.clone() } else { articles.clone() };
        service.oneshot(request)
    });
    serve::on_a_runtime(|listener| Server::new(listener).serve(app, pending()))
}

fn actix_web(sink: impl Sink + Clone + 'static) -> SocketAddr {
    use article_webhook_actix_web::{receive, receive_capability};

    let articles = receive(receiver(), sink.clone());
    let orders = receive_capability(receiver(), capability_key(), sink);
    serve::actix_web(move |config| {
        config
            .service(web::resource("/webhooks/articles").to(articles.clone()))
            .service(web::resource("/webhooks/orders/{capability}").to(orders.clone()));
    })
}
