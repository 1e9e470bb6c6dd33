//! What the tests share: the scene of the worker's tests, refused deliveries and an export.

use article_webhook::{
    Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::Inbox;

pub(crate) use crate::worker_scene::{HOUR, Scene, key};

impl Scene {
    /// The receiver refuses it and reports that to the inbox.
    pub(crate) fn refuse(&self, job: &str) {
        self.hear(&fixture::complete().job_id(job).header("Content-Type", "text/html"));
    }

    pub(crate) fn hear(&self, post: &DeliveryRequest) {
        self.inbox.refused(&post.delivery().unwrap_err());
    }

    /// The receiver refuses it, and waits until the inbox has kept its body.
    pub(crate) async fn keep(&self, post: &DeliveryRequest) {
        self.inbox.keep_refused(post.delivery().unwrap_err()).await;
    }
}

pub(crate) async fn exported(inbox: &Inbox) -> String {
    let mut lines = Vec::new();
    inbox.export(&mut lines).await.unwrap();
    String::from_utf8(lines).unwrap()
}
