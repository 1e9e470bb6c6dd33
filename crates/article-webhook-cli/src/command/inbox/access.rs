use article_webhook_inbox::Inbox;

use crate::{failure::Failure, store::Place};

/// What a command that changes nothing may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It tries what a receiver does, or has buttons.
    Full,
    ReadOnly,
}

impl Access {
    pub(super) async fn open(self, place: &Place) -> Result<Inbox, Failure> {
        match self {
            Self::Full => place.shared().await,
            Self::ReadOnly => place.read().await,
        }
    }
}
