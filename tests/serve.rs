//! Servers on ports of the loopback, each in a thread of its own, until the process ends.

use std::{
    future::{IntoFuture, pending},
    io,
    net::{self, SocketAddr},
    thread,
};

use actix_web::{
    App, HttpServer, rt,
    web::{self, ServiceConfig},
};
use article_webhook::{CapabilityKey, Sink, fixture};
use article_webhook_server::Server;
use axum::{Router, routing::any};
use tokio::{net::TcpListener, runtime::Builder};

/// Where a sink is mounted by token.
pub const PATH: &str = "/webhooks/articles";

const ORDERS: &str = "/webhooks/orders/{capability}";

/// What a receiver stands on.
#[derive(Debug, Clone, Copy)]
pub enum Framework {
    /// axum, on hyper.
    Axum,
    /// actix-web.
    ActixWeb,
    /// The tower service on hyper.
    Hyper,
    /// The tower service on `article-webhook-server`.
    Server,
}

impl Framework {
    /// Every framework.
    pub const ALL: [Self; 4] = [Self::Axum, Self::ActixWeb, Self::Hyper, Self::Server];

    /// Serves a sink by the token of the fixtures at [`PATH`], and by capability below `/webhooks/orders/`.
    pub fn serve(self, sink: impl Sink + Clone + 'static) -> SocketAddr {
        let (receiver, also, key) = (fixture::receiver(), sink.clone(), capability_key());
        match self {
            Self::ActixWeb => {
                use article_webhook_actix_web::{receive, receive_capability};
                let orders = receive_capability(receiver.clone(), key, also);
                let articles = receive(receiver, sink);
                actix_web(move |config| {
                    config.service(web::resource(PATH).to(articles.clone()));
                    config.service(web::resource(ORDERS).to(orders.clone()));
                })
            }
            Self::Axum => {
                use article_webhook_axum::{receive, receive_capability};
                let orders = any(receive_capability(receiver.clone(), key, also));
                let app = Router::new().route(PATH, any(receive(receiver, sink)));
                axum(app.route(ORDERS, orders))
            }
            Self::Hyper | Self::Server => {
                use article_webhook_tower::{receive, receive_capability};
                let orders = receive_capability(receiver.clone(), key, also);
                let app = Router::new().route_service(PATH, receive(receiver, sink));
                let app = app.route_service(ORDERS, orders);
                if let Self::Hyper = self {
                    return axum(app);
                }
                on_a_runtime(|listener| Server::new(listener).serve(app, pending()))
            }
        }
    }
}

/// The key of the capabilities that open the routes below `/webhooks/orders/`.
pub fn capability_key() -> CapabilityKey {
    CapabilityKey::new(b"a capability key of the tests, 38 bytes").expect("it is long enough")
}

/// Serves a router by axum.
pub fn axum(router: Router) -> SocketAddr {
    on_a_runtime(|listener| axum::serve(listener, router).into_future())
}

fn listener() -> (net::TcpListener, SocketAddr) {
    let listener = net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("the listener is bound");
    (listener, address)
}

/// Serves as `serve` does with its listener, on a runtime of one thread.
pub fn on_a_runtime<F: Future<Output = io::Result<()>>>(
    serve: impl FnOnce(TcpListener) -> F + Send + 'static,
) -> SocketAddr {
    let (listener, address) = listener();
    thread::spawn(|| {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("there are threads").block_on(async {
            listener.set_nonblocking(true).expect("the socket takes its options");
            serve(TcpListener::from_std(listener).expect("it listens")).await.expect("it serves");
        });
    });
    address
}

/// Serves what `mount` mounts, on a single worker.
pub fn actix_web(mount: impl Fn(&mut ServiceConfig) + Clone + Send + 'static) -> SocketAddr {
    let (listener, address) = listener();
    thread::spawn(move || {
        let app = move || App::new().configure(mount.clone());
        let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
        rt::System::new().block_on(server.expect("it listens").run()).expect("it serves");
    });
    address
}
