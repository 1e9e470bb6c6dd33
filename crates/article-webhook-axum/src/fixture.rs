//! Articles, deliveries and defects for the unit tests of an application (feature `fixture`): those of the core, and
//! [`DeliveryRequestExt`], which makes what axum's tests need of them.

use axum_core::{body::Body, extract::Request};

use crate::ArticleComplete;

#[doc(inline)]
pub use article_webhook::fixture::*;

/// What a [`DeliveryRequest`] becomes in the tests of an axum application.
///
/// It is a trait, because the methods of a request under construction belong to the core, which knows no framework.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, fixture::{self, Defect, DeliveryRequestExt}};
/// use axum::{Router, routing::post};
/// use tower::ServiceExt;
///
/// async fn on_article(ArticleComplete(result, delivery): ArticleComplete) -> String {
///     format!("{} for {}", result.article.title, delivery.target())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let answer = on_article(fixture::complete().title("Ten Tips").target("blog").extracted()).await;
/// assert_eq!(answer, "Ten Tips for blog");
///
/// let app = Router::new().route("/", post(on_article)).with_state(fixture::receiver());
/// let response = app.clone().oneshot(fixture::complete().request("/")).await?;
/// assert_eq!(response.status(), 200);
///
/// let response = app.oneshot(fixture::complete().defect(Defect::WrongToken).request("/")).await?;
/// assert_eq!(response.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DeliveryRequestExt {
    /// The request as a router takes it, for instance with `tower::ServiceExt::oneshot`.
    ///
    /// # Panics
    ///
    /// If the path or an added header is not a valid one.
    #[must_use]
    fn request(&self, path: &str) -> Request;

    /// What the extractor makes of it, for a handler that is called as the function it is.
    ///
    /// # Panics
    ///
    /// If the extractor refuses it: no handler runs for such a request.
    #[must_use]
    fn extracted(&self) -> ArticleComplete;
}

impl DeliveryRequestExt for DeliveryRequest {
    fn request(&self, path: &str) -> Request {
        self.clone().into_request(path).map(Body::from)
    }

    fn extracted(&self) -> ArticleComplete {
        match self.article() {
            Ok((result, delivery)) => ArticleComplete(result, delivery),
            Err(refused) => panic!("the extractor refuses this request: {refused}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(
        expected = "the extractor refuses this request: the job ids of header and body differ"
    )]
    fn what_no_handler_gets_is_not_extracted() {
        drop(complete().defect(Defect::JobIdMismatch).extracted());
    }
}
