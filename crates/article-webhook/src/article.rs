//! What the service sends: identifiers, events, results, and how a body is decoded into them.

mod article;
mod decode;
mod decode_error;
mod drift;
mod event;
mod featured_image;
mod html;
mod job_id;
mod result;
mod social_posts;
mod status;

pub use article::Article;
pub(crate) use decode::{ParsedResult, drift};
pub use decode_error::DecodeError;
pub use drift::{Difference, Drift};
pub use event::Event;
pub use featured_image::FeaturedImage;
pub use html::UntrustedHtml;
pub use job_id::{InvalidJobId, JobId};
pub use result::ArticleResult;
pub use social_posts::{SocialPost, SocialPosts};
pub use status::Status;
