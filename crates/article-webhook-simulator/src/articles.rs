//! Articles as the service writes them. The same seed and the same specification give the same bytes.
//!
//! ```
//! use article_webhook_simulator::articles::{self, ArticleSpec};
//!
//! let spec = ArticleSpec {
//!     image_base: "http://127.0.0.1:4000/images",
//!     ..ArticleSpec::new("job_1", "How to choose running shoes")
//! };
//! let body = articles::generate(7, &spec);
//! assert_eq!(body, articles::generate(7, &spec));
//! assert_ne!(body, articles::generate(8, &spec));
//!
//! let result = article_webhook::ArticleResult::from_json(&body)?;
//! assert_eq!(result.article.title, "How to choose running shoes");
//! assert_eq!(result.featured_image.unwrap().url.unwrap(), "http://127.0.0.1:4000/images/7.png");
//! # Ok::<(), article_webhook::DecodeError>(())
//! ```

mod article;
mod image;
mod page;
mod phrases;
mod spec;

pub use article::generate;
pub use image::image;
pub use spec::{ArticleSpec, Length};
