#![doc = include_str!("../README.md")]

mod api_key;

mod response;

mod error;
mod model;

mod base_url;
mod retry;

mod http;

mod calls;

pub use article_webhook::{ArticleResult, AuthToken, InvalidJobId, JobId, StatusCode, TokenError};

pub use api_key::{ApiKey, KeyError};
pub use calls::Wait;
pub use error::Error;
pub use http::{Client, ClientBuilder};
pub use model::{Complete, Created, JobStatus, NewArticle, PublishTarget, Unfinished};
pub use response::{CallOutcome, ErrorCode, RawResponse, Response};
