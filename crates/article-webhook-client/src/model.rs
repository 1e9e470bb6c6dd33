//! What is sent to the service, and what it answers.

mod job;
mod new_article;
mod publish_target;

pub use job::{Complete, Created, JobStatus, Unfinished};
pub use new_article::NewArticle;
pub use publish_target::PublishTarget;
