//! Articles and deliveries for the unit tests of an application, and every defect that a receiver must refuse (feature
//! `fixture`). Each adapter has a module of this name with the same items, and the test request of its framework.
//!
//! ```
//! use article_webhook::fixture::{self, Defect};
//!
//! let receiver = fixture::receiver();
//!
//! let request = fixture::complete().job_id("job_1").title("Ten Tips");
//! let (result, delivery) = receiver.open(request.headers())?.article(request.bytes().clone())?;
//! assert_eq!((result.article.title.as_str(), delivery.job_id().as_str()), ("Ten Tips", "job_1"));
//!
//! let forged = request.defect(Defect::WrongToken);
//! assert_eq!(receiver.open(forged.headers()).unwrap_err().answer().status(), 401);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod defect;
mod delivery_request;
mod prose;

pub use defect::Defect;
pub use delivery_request::DeliveryRequest;

use crate::{ArticleResult, AuthToken, Receiver};

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
/// use article_webhook::fixture;
///
/// assert!(fixture::receiver().open(fixture::minimal().headers()).is_ok());
/// assert!(fixture::receiver().open(fixture::minimal().token("Bearer other").headers()).is_err());
/// ```
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "the token is a valid constant")]
pub fn receiver() -> Receiver {
    Receiver::new(AuthToken::new(TOKEN).expect("the fixture token is a valid one"))
}

/// The article of [`complete`], for a function that takes an article.
///
/// ```
/// use article_webhook::{ArticleResult, fixture};
///
/// fn headline(result: &ArticleResult) -> String {
///     result.article.title.to_uppercase()
/// }
///
/// assert_eq!(headline(&fixture::article()), "HOW TO CHOOSE RUNNING SHOES");
/// ```
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "the sample is an article")]
pub fn article() -> ArticleResult {
    ArticleResult::from_json(complete().bytes()).expect("the sample is an article")
}

/// A delivery whose result has every documented field.
#[must_use]
pub fn complete() -> DeliveryRequest {
    DeliveryRequest::new(&include_bytes!("../fixtures/complete.json")[..])
}

/// A delivery whose result has the required fields only.
#[must_use]
pub fn minimal() -> DeliveryRequest {
    DeliveryRequest::new(&include_bytes!("../fixtures/minimal.json")[..])
}

/// A delivery whose result has text in several scripts, with characters in each notation that JSON allows.
#[must_use]
pub fn unicode() -> DeliveryRequest {
    DeliveryRequest::new(&include_bytes!("../fixtures/unicode.json")[..])
}

/// A delivery whose result has undocumented fields, and integers written as `44.0`.
#[must_use]
pub fn extra_fields() -> DeliveryRequest {
    DeliveryRequest::new(&include_bytes!("../fixtures/extra_fields.json")[..])
}

/// A delivery in whose result some optional fields are missing or `null`.
#[must_use]
pub fn missing_optional_fields() -> DeliveryRequest {
    DeliveryRequest::new(&include_bytes!("../fixtures/missing_optional_fields.json")[..])
}

/// A delivery of a generated article of about `bytes` bytes of HTML: headings, lists, tables, links, quotes, non-ASCII
/// text. The same seed gives the same article.
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "a result can be written as JSON")]
pub fn generated(seed: u64, bytes: usize) -> DeliveryRequest {
    let result = prose::result(seed, None, bytes);
    DeliveryRequest::new(serde_json::to_vec(&result).expect("a result can be written as JSON"))
}

/// The result of [`generated`] with another title, for the other crates of the project.
#[doc(hidden)]
#[must_use]
pub fn generated_result(seed: u64, title: &str, bytes: usize) -> ArticleResult {
    prose::result(seed, Some(title), bytes)
}
