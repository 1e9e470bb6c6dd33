use std::sync::Arc;

use article_webhook_inbox::Inbox;
use tokio::sync::Semaphore;

use super::{access::Access, panel::Panel, watch::Watch};
use crate::output::log::Refusals;

/// What all routes share.
pub(super) struct Shared {
    pub(super) inbox: Inbox,
    /// The inbox as the command line names it, for the commands that the page shows.
    pub(super) name: String,
    /// The URL of a receiver, for the same.
    pub(super) receiver: String,
    /// Whether that receiver is this process.
    pub(super) has_receiver: bool,
    pub(super) access: Access,
    /// Whether the page has no buttons.
    pub(super) is_read_only: bool,
    pub(super) panel: Option<Arc<dyn Panel>>,
    /// What the receiver of this process refused, if it has one.
    pub(super) refusals: Option<Refusals>,
    pub(super) watch: Watch,
    /// Permits of the open pages that get changes.
    pub(super) listeners: Arc<Semaphore>,
}
