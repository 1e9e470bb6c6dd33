use std::{future::pending, net::TcpListener, thread};

use actix_web::{App, HttpServer, rt, web};
use article_webhook::{AuthToken, CapabilityKey, Receiver};
use article_webhook_server::Server;
use axum::{Router, routing::any};
use tokio::runtime;

use crate::shop::Shop;

pub(crate) const TOKEN: &str = "Bearer end-to-end-5f2b9c0e7a1d4e38";

/// What the receiver of a story stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
}

impl Framework {
    pub(crate) const BOTH: [Self; 2] = [Self::Axum, Self::ActixWeb];

    /// Serves the shop on a port of this machine until the process ends: by token on `/webhooks/articles`,
    /// by capability below `/webhooks/orders/`. The answer is what stands in front of both.
    pub(crate) fn serve(self, shop: &Shop) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("the listener is bound");
        let shop = shop.clone();
        match self {
            Self::Axum => thread::spawn(|| axum(listener, shop)),
            Self::ActixWeb => thread::spawn(|| actix_web(listener, shop)),
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

fn axum(listener: TcpListener, shop: Shop) {
    use article_webhook_axum::{receive, receive_capability};

    let orders = receive_capability(receiver(), capability_key(), shop.clone());
    let app: Router = Router::new()
        .route("/webhooks/articles", any(receive(receiver(), shop)))
        .route("/webhooks/orders/{capability}", any(orders));
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("there are threads").block_on(async {
        listener.set_nonblocking(true).expect("the socket takes its options");
        let listener = tokio::net::TcpListener::from_std(listener).expect("it listens");
        Server::new(listener).serve(app, pending()).await.expect("it serves");
    });
}

fn actix_web(listener: TcpListener, shop: Shop) {
    use article_webhook_actix_web::{receive, receive_capability};

    let articles = receive(receiver(), shop.clone());
    let orders = receive_capability(receiver(), capability_key(), shop);
    let app = move || {
        App::new()
            .service(web::resource("/webhooks/articles").to(articles.clone()))
            .service(web::resource("/webhooks/orders/{capability}").to(orders.clone()))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
    rt::System::new().block_on(server.expect("it listens").run()).expect("it serves");
}
