#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod body;
mod response;

mod receive;
mod require_delivery;
mod run_to_completion;

#[cfg(feature = "fixture")]
pub mod fixture;

pub use article_webhook::{
    self, Article, ArticleResult, AuthToken, BoxSink, BuildError, DecodeError, Delivery, Event,
    FeaturedImage, JobId, Receiver, Refused, Rejection, Reply, Sink, SocialPosts, Targets,
    TokenError, UntrustedHtml,
};
#[cfg(feature = "sanitize")]
pub use article_webhook::{ArticleSanitizer, TooComplex};
#[cfg(feature = "capability")]
pub use article_webhook::{CapabilityError, CapabilityKey};

pub use body::RequestBody;
#[cfg(feature = "capability")]
pub use receive::receive_capability;
pub use receive::{Receive, receive};
pub use require_delivery::{RequireDelivery, RequireDeliveryLayer};
pub use run_to_completion::{RunToCompletion, RunToCompletionService};
