//! A runtime with several threads can run public futures in tasks: they are `Send`.

use std::future::pending;

use article_webhook_client::{ApiKey, Client, JobId, NewArticle};
use article_webhook_collector::Collector;
use article_webhook_inbox::{EntryKey, Failed, Filter, Inbox, JobFilter};
use article_webhook_server::Server;
use article_webhook_simulator::Simulator;

fn is_send<F: Future + Send>(_: F) -> usize {
    size_of::<F>()
}

#[tokio::test]
async fn public_futures_can_be_sent_to_another_thread() {
    let (inbox, other) = (Inbox::memory(), Inbox::memory());
    let id: JobId = "job_1".parse().unwrap();
    let key = EntryKey::article(id.clone());
    let worker = |inbox: &Inbox| inbox.worker(|_| async { Ok::<(), Failed>(()) });
    let of_inbox = [
        is_send(inbox.health()),
        is_send(inbox.ready()),
        is_send(inbox.list(Filter::default())),
        is_send(inbox.jobs(JobFilter::default())),
        is_send(inbox.show(key.clone())),
        is_send(inbox.requeue(key.clone())),
        is_send(inbox.discard(key, "not needed")),
        is_send(inbox.erase(id.clone())),
        is_send(inbox.export(Vec::new())),
        is_send(inbox.import(std::io::Cursor::new(""))),
        is_send(inbox.copy_from(&other)),
        is_send(inbox.check()),
        is_send(inbox.close()),
        is_send(worker(&inbox).run(pending::<()>())),
        is_send(worker(&inbox).run_until_idle()),
    ];

    let key = ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap();
    let client = Client::new(key, "http://127.0.0.1:1").unwrap();
    let article = NewArticle::new("Shoes");
    let of_client = [
        is_send(client.article(&id)),
        is_send(client.create_article(&article)),
        is_send(client.wait(&id).into_future()),
    ];
    let collector = Collector::new(&inbox, client);
    let of_collector = [
        is_send(collector.order("post-17", &article)),
        is_send(collector.expect_all([id])),
        is_send(collector.health()),
        is_send(collector.run(pending::<()>())),
    ];
    let of_others = [is_send(Server::bind("127.0.0.1:0")), is_send(Simulator::builder().start())];
    let all = [&of_inbox[..], &of_client, &of_collector, &of_others].concat();
    assert!(all.iter().all(|size| *size > 0), "each of them has a state");
}
