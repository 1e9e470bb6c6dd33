use std::{net::SocketAddr, path::Path, sync::Arc};

use article_webhook::{Receiver, fixture};
use article_webhook_axum::{RawDelivery, receive};
use article_webhook_inbox::{Inbox, store::Arrival};
use axum::{Router, extract::FromRef, extract::State, http::StatusCode, routing::post};
use tokio::net::TcpListener;

use crate::contenders::naive::Naive;

/// The receiver of this project.
pub(crate) async fn inbox(folder: &Path) -> Router {
    let inbox = Inbox::open(folder.join("inbox.db")).await.unwrap();
    Router::new().route("/", post(receive(fixture::receiver(), inbox)))
}

/// A handler with the same checks, and one transaction for each delivery.
pub(crate) fn naive(folder: &Path) -> Router {
    let naive = Arc::new(Naive::open(folder));
    let shared = Shared { receiver: fixture::receiver(), naive };
    Router::new().route("/", post(store)).with_state(shared)
}

#[derive(Clone)]
struct Shared {
    receiver: Receiver,
    naive: Arc<Naive>,
}

impl FromRef<Shared> for Receiver {
    fn from_ref(shared: &Shared) -> Self {
        shared.receiver.clone()
    }
}

async fn store(State(shared): State<Shared>, RawDelivery(delivery): RawDelivery) -> StatusCode {
    let store = move || shared.naive.record(&Arrival::from(&delivery));
    match tokio::task::spawn_blocking(store).await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Serves on a free port of the loopback interface for as long as the runtime lasts.
pub(crate) async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}
