//! Deliveries for the unit tests of an application: as the service sends them, and spoiled in every
//! way a receiver must refuse (feature `fixture`).
//!
//! ```
//! use article_webhook::fixture::{self, Post, Spoil};
//!
//! let receiver = fixture::receiver();
//!
//! let post = Post::complete().job_id("job_1");
//! let delivery = receiver.open(post.headers())?.read(post.body().clone())?;
//! assert_eq!(delivery.decode()?.article.title, "How to Choose Running Shoes");
//!
//! let forged = post.spoiled(Spoil::WrongToken);
//! assert_eq!(receiver.open(forged.headers()).unwrap_err().answer().status(), 401);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod post;
mod prose;
mod spoil;

pub use post::Post;
pub use spoil::Spoil;

use crate::{AuthToken, Receiver};

/// The token that fixtures carry and [`receiver`] accepts.
///
/// ```
/// use article_webhook::{AuthToken, fixture};
///
/// assert!(AuthToken::new(fixture::TOKEN).is_ok());
/// ```
pub const TOKEN: &str = "Bearer fixture-5f2b9c0e7a1d4e38";

/// A receiver for [`TOKEN`] with the default settings.
///
/// ```
/// use article_webhook::fixture::{self, Post};
///
/// assert!(fixture::receiver().open(Post::minimal().headers()).is_ok());
/// assert!(fixture::receiver().open(Post::minimal().token("Bearer other").headers()).is_err());
/// ```
#[must_use]
#[allow(clippy::missing_panics_doc)] // it never does
pub fn receiver() -> Receiver {
    Receiver::new(AuthToken::new(TOKEN).expect("the fixture token is a valid one"))
}
