//! Everything that decodes a body, and the memory that it takes.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::Mutex,
    thread,
};

use allocation_counter::measure;
use article_webhook::{ArticleResult, Envelope, Sink, fixture};
use article_webhook_client::{ApiKey, CallOutcome, Client, NewArticle};
use article_webhook_inbox::{Inbox, Job};
use bytes::Bytes;
use tokio::{runtime, sync::oneshot};

/// Its name, how often it holds the body itself, and the bytes that are allocated at once.
type Reader = (&'static str, u64, fn(&[u8]) -> u64);

pub(crate) const READERS: [Reader; 8] = [
    ("the check of a delivery", 0, check),
    ("the extractor", 0, extract),
    ("from_json", 0, from_json),
    ("drift", 0, drift),
    ("the worker", 0, work),
    ("the client", 1, ask),
    ("the client's order", 1, order),
    ("the client's error", 1, fail),
];

fn envelope() -> Envelope {
    let headers = [
        ("Authorization", fixture::TOKEN),
        ("Content-Type", "application/json"),
        ("X-Service-Event", "article.complete"),
        ("X-Service-Job-Id", "job_1"),
    ];
    fixture::receiver().open(&headers).expect("the headers are right")
}

fn check(body: &[u8]) -> u64 {
    let (envelope, body) = (envelope(), Bytes::copy_from_slice(body));
    measure(|| drop(envelope.read(body).expect("it is a delivery"))).bytes_max
}

fn extract(body: &[u8]) -> u64 {
    let (envelope, body) = (envelope(), Bytes::copy_from_slice(body));
    measure(|| drop(envelope.article(body).expect("it is an article"))).bytes_max
}

fn from_json(body: &[u8]) -> u64 {
    measure(|| drop(ArticleResult::from_json(body).expect("it is an article"))).bytes_max
}

fn drift(body: &[u8]) -> u64 {
    let delivery = envelope().read(Bytes::copy_from_slice(body)).expect("it is a delivery");
    measure(|| drop(delivery.drift())).bytes_max
}

/// From the claim to the handler. Only the handler has a thread of its own.
fn work(body: &[u8]) -> u64 {
    let delivery = envelope().read(Bytes::copy_from_slice(body)).expect("it is a delivery");
    block_on(
        async {
            let inbox = Inbox::memory();
            inbox.accept(delivery).await;
            let (done, ended) = oneshot::channel();
            let done = Mutex::new(Some(done));
            let worker = inbox.worker(move |job: Job| {
                let done = done.lock().expect("no handler panics").take();
                async move {
                    drop(job);
                    done.expect("it is called once").send(()).expect("the worker waits for it");
                    Ok::<_, article_webhook_inbox::Failed>(())
                }
            });
            (worker, ended)
        },
        async |(worker, ended)| {
            worker.run(ended).await.expect("it ends when it is asked to");
        },
    )
}

/// The client, from its request to the decoded article.
fn ask(body: &[u8]) -> u64 {
    answered("200 OK", body, async |client| {
        let job_id = "job_1".parse().expect("it is a job id");
        drop(client.article(&job_id).await.expect("it is an article"));
    })
}

/// The client, when an order is answered with such a body.
fn order(body: &[u8]) -> u64 {
    answered("200 OK", body, async |client| {
        let order = NewArticle::new("Shoes");
        drop(client.create_article(&order).await.expect("it has a job id"));
    })
}

/// The client, when a question is answered with an error that has such fields.
fn fail(body: &[u8]) -> u64 {
    let error = [br#"{"error":"generation_failed","#, &body[1..]].concat();
    answered("500 Internal Server Error", &error, async |client| {
        let job_id = "job_1".parse().expect("it is a job id");
        let response = client.article_once(&job_id).await.expect("it is answered");
        assert!(matches!(response.outcome, CallOutcome::Failed { .. }), "{response:?}");
    })
}

fn answered(status: &str, body: &[u8], call: impl AsyncFnOnce(Client)) -> u64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let answer = [head.as_bytes(), body].concat();
    let service = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the client connects");
        let mut request = Vec::new();
        // The request has no body, or a body that is an object.
        while !request.ends_with(b"\r\n\r\n") && !request.ends_with(b"}") {
            let mut some = [0; 4096];
            let count = stream.read(&mut some).expect("the client sends its request");
            request.extend_from_slice(&some[..count]);
        }
        stream.write_all(&answer).expect("the client reads the response");
    });
    let key = ApiKey::new("sk-5f2b9c0e7a1d4e38").expect("it is a key");
    let client = async { Client::new(key, &base).expect("it is a URL") };
    let taken = block_on(client, call);
    service.join().expect("the service does not panic");
    taken
}

/// The bytes that the second future allocates at once, on this thread.
fn block_on<T>(prepare: impl Future<Output = T>, run: impl AsyncFnOnce(T)) -> u64 {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be built");
    let prepared = runtime.block_on(prepare);
    measure(|| runtime.block_on(run(prepared))).bytes_max
}
