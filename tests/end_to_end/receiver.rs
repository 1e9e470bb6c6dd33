use std::{future::pending, io, net::TcpListener, thread};

use actix_web::{App, HttpServer, rt, web};
use article_webhook::{AuthToken, CapabilityKey, Receiver, Sink};
use article_webhook_server::{Server, ServerBody};
use axum::{Router, routing::any};
use http::Request;
use tokio::runtime;
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
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("the listener is bound");
        match self {
            Self::Axum => thread::spawn(|| axum(listener, sink)),
            Self::ActixWeb => thread::spawn(|| actix_web(listener, sink)),
            Self::Tower => thread::spawn(|| tower(listener, sink)),
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

fn axum(listener: TcpListener, sink: impl Sink + Clone + 'static) {
    use article_webhook_axum::{receive, receive_capability};

    let orders = receive_capability(receiver(), capability_key(), sink.clone());
    let app: Router = Router::new()
        .route("/webhooks/articles", any(receive(receiver(), sink)))
        .route("/webhooks/orders/{capability}", any(orders));
    run(listener, |server| server.serve(app, pending()));
}

fn tower(listener: TcpListener, sink: impl Sink + Clone + 'static) {
    use article_webhook_tower::{receive, receive_capability};

    let orders = receive_capability(receiver(), capability_key(), sink.clone());
    let articles = receive(receiver(), sink);
    let app = service_fn(move |request: Request<ServerBody>| {
        let is_order = request.uri().path().starts_with("/webhooks/orders/");
        let service = if is_order { orders.clone() } else { articles.clone() };
        service.oneshot(request)
    });
    run(listener, |server| server.serve(app, pending()));
}

fn run<F: Future<Output = io::Result<()>>>(listener: TcpListener, serve: impl FnOnce(Server) -> F) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("there are threads").block_on(async {
        listener.set_nonblocking(true).expect("the socket takes its options");
        let listener = tokio::net::TcpListener::from_std(listener).expect("it listens");
        serve(Server::new(listener)).await.expect("it serves");
    });
}

fn actix_web(listener: TcpListener, sink: impl Sink + Clone + 'static) {
    use article_webhook_actix_web::{receive, receive_capability};

    let articles = receive(receiver(), sink.clone());
    let orders = receive_capability(receiver(), capability_key(), sink);
    let app = move || {
        App::new()
            .service(web::resource("/webhooks/articles").to(articles.clone()))
            .service(web::resource("/webhooks/orders/{capability}").to(orders.clone()))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
    rt::System::new().block_on(server.expect("it listens").run()).expect("it serves");
}
