//! What a delivery is for whose job the inbox has a body.

use article_inbox::{Body, Digest, EntryKey, Inbox};
use article_webhook::{ArticleResult, JobId};

use crate::text::command;

/// A body that is not the one which is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherBody {
    Kept,
    /// The entry has as many as it may have.
    NotKept,
}

/// Whether the body that was delivered differs from the one that the inbox hands out. `None`: it is a repeat.
pub(super) async fn other_body(inbox: &Inbox, key: &EntryKey, body: &[u8]) -> Option<OtherBody> {
    // Without an entry there is nothing to tell: the job was erased meanwhile, or the inbox fails.
    let (_, bodies) = inbox.show(key.clone()).await.ok().flatten()?;
    let digest = Digest::of(body);
    match bodies.iter().any(|it| it.digest == digest) {
        _ if handed_out(&bodies)?.digest == digest => None,
        true => Some(OtherBody::Kept),
        false => Some(OtherBody::NotKept),
    }
}

/// The first that is an article, or else the first.
fn handed_out(bodies: &[Body]) -> Option<&Body> {
    let is_article = |body: &&Body| {
        body.bytes.as_ref().is_some_and(|bytes| ArticleResult::from_json(bytes).is_ok())
    };
    bodies.iter().find(is_article).or_else(|| bodies.first())
}

impl OtherBody {
    /// What became of it, and how it is tried again. It is not escaped.
    pub(super) fn text(self, inbox: &str, job: &JobId) -> String {
        let kept = match self {
            Self::Kept => "kept, and not passed on",
            Self::NotKept => "neither kept nor passed on",
        };
        let forget = command::forget(inbox, job.as_str());
        format!(
            "{kept}: the inbox hands out one body of a job; deliver it under another job id, or again after: {forget}"
        )
    }
}
