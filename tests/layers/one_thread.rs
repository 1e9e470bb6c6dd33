//! Server, inbox in a file, worker and sender on the one thread of a current-thread runtime.

use article_webhook::fixture;
use article_webhook_inbox::{Failed, Inbox, Job};
use article_webhook_server::Server;
use article_webhook_tests::connection::wire;
use article_webhook_tower::receive;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc, oneshot},
};

#[tokio::test(flavor = "current_thread")]
async fn ten_articles_are_stored_and_worked_on_and_all_ends_in_order() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let inbox = Inbox::open(folder.path().join("inbox.db")).await.expect("it is new");
    let (handled, mut was_handled) = mpsc::unbounded_channel();
    let publish = move |job: Job| {
        let sent = handled.send(job.job_id().to_string());
        async move { sent.map_err(Failed::from) }
    };
    let ((stop_server, server_stops), (stop_worker, worker_stops)) =
        (oneshot::channel::<()>(), oneshot::channel::<()>());
    let worker = inbox.worker(publish).run(async { _ = worker_stops.await });
    let worker = tokio::spawn(worker);
    let server = Server::bind("127.0.0.1:0").await.expect("a port is free");
    let address = server.local_addr().expect("it listens");
    let service = receive(fixture::receiver(), inbox.clone());
    let server = tokio::spawn(server.serve(service, async { _ = server_stops.await }));

    let mut jobs: Vec<_> = (0..10).map(|number| format!("job_{number}")).collect();
    for job in &jobs {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let delivery = fixture::complete().job_id(job).header("Connection", "close");
        stream.write_all(&wire("POST /", &delivery)).await.expect("it is open");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it is text");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let mut seen = Vec::new();
    while seen.len() < jobs.len() {
        seen.push(was_handled.recv().await.expect("the worker runs"));
    }
    seen.sort();
    jobs.sort();
    assert_eq!(seen, jobs);

    stop_server.send(()).expect("it runs");
    stop_worker.send(()).expect("it runs");
    server.await.expect("no panic").expect("it ends in order");
    worker.await.expect("no panic").expect("it ends in order");
    inbox.close().await.expect("it is open");
}
