#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![expect(clippy::test_attr_in_doctest, reason = "the example unit_test_axum runs them")]

mod body;
mod response;

mod refused_response;
mod retry;

mod extractors;
mod receive;
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

pub use extractors::{ArticleComplete, RawDelivery};
pub use receive::receive;
#[cfg(feature = "capability")]
pub use receive::receive_capability;
pub use refused_response::RefusedResponse;
pub use retry::Retry;
pub use run_to_completion::{RunToCompletion, RunToCompletionService};
