//! Articles, deliveries and defects for the unit tests of an application (feature `fixture`): those of the core, and
//! [`DeliveryRequestExt`], which makes requests of them.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

#[doc(inline)]
pub use article_webhook::fixture::*;

/// What a [`DeliveryRequest`] becomes in the tests of a tower service.
///
/// It is a trait, because the methods of a request under construction belong to the core, which knows no framework.
///
/// ```
/// use article_webhook_tower::{Delivery, Reply, fixture::{self, Defect, DeliveryRequestExt}, receive};
/// use tower::ServiceExt;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let service = receive(fixture::receiver(), async |_: Delivery| Reply::Stored);
/// let response = service.clone().oneshot(fixture::complete().request("/")).await?;
/// assert_eq!(response.status(), 200);
///
/// let response = service.oneshot(fixture::complete().defect(Defect::WrongToken).request("/")).await?;
/// assert_eq!(response.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DeliveryRequestExt {
    /// The request, with a body of known bytes.
    ///
    /// # Panics
    ///
    /// If the path or an added header is not a valid one.
    #[must_use]
    fn request(&self, path: &str) -> Request<Full<Bytes>>;
}

impl DeliveryRequestExt for DeliveryRequest {
    fn request(&self, path: &str) -> Request<Full<Bytes>> {
        self.clone().into_request(path).map(Full::new)
    }
}
