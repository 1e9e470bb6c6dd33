#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod article;
#[cfg(feature = "capability")]
mod capability;
#[cfg(feature = "capability")]
mod capability_error;
mod chunks;
mod decode;
mod delivery;
mod drain;
mod drift;
mod envelope;
mod event;
#[cfg(feature = "fixture")]
pub mod fixture;
pub mod guide;
mod head;
mod header;
mod html;
mod intake;
mod job_id;
mod json;
mod kind;
mod log;
mod outline;
mod reader;
mod receiver;
mod refused;
mod rejection;
mod reply;
mod settings;
mod shape;
mod sink;
mod social;
mod target;
mod token;
mod token_error;

pub use answer::Answer;
pub use article::{Article, ArticleResult, FeaturedImage, Status};
#[cfg(feature = "capability")]
pub use capability::{Capability, CapabilityKey};
#[cfg(feature = "capability")]
pub use capability_error::CapabilityError;
pub use chunks::{Broken, Chunks};
pub use decode::DecodeError;
pub use delivery::Delivery;
pub use drift::Drift;
pub use envelope::Envelope;
pub use event::Event;
pub use header::Headers;
pub use html::UntrustedHtml;
pub use intake::Intake;
pub use job_id::{InvalidJobId, JobId};
pub use kind::Kind;
pub use receiver::Receiver;
pub use refused::Refused;
pub use rejection::{Rejection, ServiceHeader};
pub use reply::Reply;
pub use settings::{ReceiverBuilder, SettingsError};
pub use sink::Sink;
pub use social::{SocialPost, SocialPosts};
pub use target::Targets;
pub use token::AuthToken;
pub use token_error::TokenError;
