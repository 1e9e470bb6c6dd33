#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod carry;
mod receive;
mod require;

// The whole core, so that an application names one dependency.
pub use article_webhook::{self, *};

#[cfg(feature = "capability")]
pub use receive::receive_capability;
pub use receive::{Receive, Receiving, receive};
pub use require::{RequireDelivery, RequireDeliveryLayer, Requiring};
