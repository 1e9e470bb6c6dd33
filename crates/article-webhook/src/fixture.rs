//! Deliveries for the unit tests of an application: as the service sends them, and with every
//! defect that a receiver must refuse (feature `fixture`).
//!
//! ```
//! use article_webhook::fixture::{self, DeliveryRequest, Defect};
//!
//! let receiver = fixture::receiver();
//!
//! let request = DeliveryRequest::complete().job_id("job_1");
//! let delivery = receiver.open(request.headers())?.read(request.body().clone())?;
//! assert_eq!(delivery.decode()?.article.title, "How to Choose Running Shoes");
//!
//! let forged = request.with_defect(Defect::WrongToken);
//! assert_eq!(receiver.open(forged.headers()).unwrap_err().answer().status(), 401);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod defect;
mod delivery_request;
mod prose;

pub use defect::Defect;
pub use delivery_request::DeliveryRequest;

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
/// use article_webhook::fixture::{self, DeliveryRequest};
///
/// assert!(fixture::receiver().open(DeliveryRequest::minimal().headers()).is_ok());
/// assert!(fixture::receiver().open(DeliveryRequest::minimal().token("Bearer other").headers()).is_err());
/// ```
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "the token is a valid constant")]
pub fn receiver() -> Receiver {
    Receiver::new(AuthToken::new(TOKEN).expect("the fixture token is a valid one"))
}
