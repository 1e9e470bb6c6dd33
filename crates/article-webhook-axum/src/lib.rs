#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod extract;
mod receive;
#[cfg(feature = "fixture")]
mod test_request;

// The whole core, so that an application names one dependency. Where an adapter has a type of the
// same name, which the orphan rule asks for, `Delivery` and `Refused` here are the adapter's.
pub use article_webhook::{self, *};

pub use answer::{Refused, Retry};
pub use extract::{ArticleComplete, Delivery};
pub use receive::receive;
#[cfg(feature = "capability")]
pub use receive::receive_capability;
#[cfg(feature = "fixture")]
pub use test_request::test_request;
