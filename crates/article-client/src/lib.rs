#![doc = include_str!("../README.md")]

mod articles;
mod base_url;
mod client;
mod code;
mod config;
mod error;
mod key;
mod retry;
mod transport;
mod wait;

pub use article_webhook::{ArticleResult, InvalidJobId, JobId};

pub use articles::{Complete, Created, Job, NewArticle, Unfinished};
pub use client::{Client, ClientBuilder};
pub use code::ErrorCode;
pub use config::PublishTarget;
pub use error::Error;
pub use key::{ApiKey, KeyError};
pub use wait::Wait;
