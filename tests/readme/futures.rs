//! A runtime with several threads can run public futures in tasks: they are `Send`. It is enough that this compiles.

use std::{future::pending, io::Cursor};

use article_webhook_client::{Client, JobId, NewArticle};
use article_webhook_collector::Collector;
use article_webhook_inbox::{EntryKey, Failed, Filter, Inbox, JobFilter};
use article_webhook_server::Server;
use article_webhook_simulator::Simulator;

fn is_send(_: impl Future + Send) {}

#[expect(dead_code, reason = "it is compiled, and not called")]
fn public_futures(inbox: &Inbox, client: &Client, collector: Collector, key: EntryKey) {
    let (id, article): (JobId, _) = (key.job_id.clone(), NewArticle::new("Shoes"));
    is_send(inbox.health());
    is_send(inbox.ready());
    is_send(inbox.list(Filter::default()));
    is_send(inbox.jobs(JobFilter::default()));
    is_send(inbox.show(key.clone()));
    is_send(inbox.requeue(key.clone()));
    is_send(inbox.discard(key, "not needed"));
    is_send(inbox.erase(id.clone()));
    is_send(inbox.export(Vec::new()));
    is_send(inbox.import(Cursor::new("")));
    is_send(inbox.copy_from(inbox));
    is_send(inbox.check());
    is_send(inbox.close());
    is_send(inbox.worker(|_| async { Ok::<(), Failed>(()) }).run(pending::<()>()));
    is_send(inbox.worker(|_| async { Ok::<(), Failed>(()) }).run_until_idle());
    is_send(client.article(&id));
    is_send(client.create_article(&article));
    is_send(client.wait(&id).into_future());
    is_send(collector.order("post-17", &article));
    is_send(collector.expect_all([id]));
    is_send(collector.health());
    is_send(collector.run(pending::<()>()));
    is_send(Server::bind("127.0.0.1:0"));
    is_send(Simulator::builder().start());
}
