//! What a delivery is for whose job and event the inbox has a body.

use article_webhook::{ArticleResult, JobId};
use article_webhook_inbox::{Body, Digest, EntryKey, Inbox, State};

use crate::text::command;

/// A body that differs from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherBody {
    Kept,
    /// The entry has as many as it may have.
    NotKept,
    /// The first is no article, and has not been handed out yet.
    HandedOut,
}

/// Whether the body that was delivered differs from the first. `None`: it is a repeat.
pub(super) async fn other_body(inbox: &Inbox, key: &EntryKey, body: &[u8]) -> Option<OtherBody> {
    // Without an entry there is nothing to report: the job was erased meanwhile, or the inbox fails.
    let (entry, bodies) = inbox.show(key.clone()).await.ok().flatten()?;
    let digest = Digest::of(body);
    if bodies.first()?.digest == digest {
        return None;
    }
    let is_next = entry.state == State::Waiting && key.is_article();
    Some(match bodies.iter().any(|it| it.digest == digest) {
        true if is_next && bodies.iter().find(is_article)?.digest == digest => OtherBody::HandedOut,
        true => OtherBody::Kept,
        false => OtherBody::NotKept,
    })
}

fn is_article(body: &&Body) -> bool {
    body.bytes.as_ref().is_some_and(|bytes| ArticleResult::from_json(bytes).is_ok())
}

impl OtherBody {
    /// What became of it, and how it is tried again. It is not escaped.
    pub(super) fn text(self, inbox: &str, job: &JobId) -> String {
        let kept = match self {
            Self::Kept => "kept, and not forwarded",
            Self::NotKept => "neither kept nor forwarded",
            Self::HandedOut => return "kept, and handed out: the first is no article".to_owned(),
        };
        let erase = command::erase(inbox, job.as_str());
        format!(
            "{kept}: the inbox hands out one body of a job; deliver it under another job id, or again after: {erase}"
        )
    }
}
