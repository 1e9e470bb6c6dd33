#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
mod response;

mod receive;
mod require_delivery;

#[cfg(feature = "fixture")]
pub use article_webhook::fixture;
pub use article_webhook::{
    self, ArticleResult, AuthToken, BuildError, Delivery, Event, JobId, Receiver, Refused,
    Rejection, Reply, Sink, Targets, TokenError,
};
#[cfg(feature = "capability")]
pub use article_webhook::{CapabilityError, CapabilityKey};

pub use body::RequestBody;
#[cfg(feature = "capability")]
pub use receive::receive_capability;
pub use receive::{Receive, receive};
pub use require_delivery::{RequireDelivery, RequireDeliveryLayer};
