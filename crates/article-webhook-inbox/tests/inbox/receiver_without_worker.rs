//! The receiver outlives its worker.

use std::future::pending;

use article_webhook::fixture::{self, DeliveryRequest};
use article_webhook_axum::receive;
use article_webhook_inbox::Failed;
use article_webhook_inbox_contract::faulty::Fault;
use axum::{Router, routing::any};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::scene::{Scene, key};

/// Delivers over a connection of its own, and returns the first line of the response.
async fn post(listening: std::net::SocketAddr, delivery: &DeliveryRequest) -> String {
    let mut connection = TcpStream::connect(listening).await.unwrap();
    let mut head = String::from(
        "POST /webhooks/articles HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n",
    );
    for (name, value) in delivery.headers() {
        head += &format!("{name}: {}\r\n", str::from_utf8(value).unwrap());
    }
    head += &format!("Content-Length: {}\r\n\r\n", delivery.bytes().len());
    connection.write_all(head.as_bytes()).await.unwrap();
    connection.write_all(delivery.bytes()).await.unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).await.unwrap();
    response.lines().next().unwrap().to_owned()
}

/// Receiver independence: the program of the crate's README, on a store in which nothing can be claimed any more.
#[tokio::test]
async fn a_server_stores_articles_after_its_worker_ended_with_an_error() {
    let scene = Scene::new();
    scene.store.fault("Claim", Fault::Unusable);
    let inbox = scene.inbox.clone();
    let app =
        Router::new().route("/webhooks/articles", any(receive(fixture::receiver(), inbox.clone())));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();

    let program = tokio::spawn(async move {
        let worker = inbox.worker(|_| async { Ok::<(), Failed>(()) });
        let worker = tokio::spawn(worker.run(pending::<()>()));
        axum::serve(listener, app).await.unwrap();
        worker.await.unwrap()
    });
    while scene.inbox.health().await.workers.failure.is_none() {
        tokio::task::yield_now().await;
    }
    let delivery = fixture::complete().job_id("job_1");
    assert_eq!(post(address, &delivery).await, "HTTP/1.1 200 OK");
    assert!(scene.inbox.show(key("job_1")).await.unwrap().is_some());
    assert!(!program.is_finished());
    program.abort();
}
