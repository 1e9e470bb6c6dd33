#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// The modules in layers, lowest first, a blank line between two layers: a module uses only modules of
// the layers above its own in this list. The test `borders` checks it.
mod causes;

mod json;
#[cfg(feature = "sanitize")]
mod sanitize;

mod article;
mod auth;

mod answer;

mod log;

mod receiver;

pub mod adapter;

#[cfg(feature = "fixture")]
pub mod fixture;
pub mod guide;

pub use adapter::{BoxSink, Sink};
pub use answer::{Answer, Refused, RefusedBody, Rejection, Reply, ServiceHeader};
pub use article::{
    Article, ArticleResult, DecodeError, Difference, Drift, Event, FeaturedImage, InvalidJobId,
    JobId, SocialPost, SocialPosts, Status, UntrustedHtml,
};
pub use auth::{AuthToken, Targets, TokenError};
#[cfg(feature = "capability")]
pub use auth::{Capability, CapabilityError, CapabilityKey};
#[doc(no_inline)]
pub use http::StatusCode;
pub use json::{Kind, MalformedJson, Repair};
pub use receiver::{BuildError, Delivery, Envelope, Receiver, ReceiverBuilder};
#[cfg(feature = "sanitize")]
pub use sanitize::{ArticleSanitizer, InvalidSetting, TooComplex};
