use article_webhook::fixture::DeliveryRequest;
use axum_core::{body::Body, extract::Request};

/// The request of a fixture, for the unit tests of an application.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, fixture::{self, DeliveryRequest}, test_request};
/// use axum::{Router, routing::post};
/// use tower::ServiceExt;
///
/// async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> String {
///     result.article.title
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let app = Router::new().route("/", post(on_article)).with_state(fixture::receiver());
///
/// let response = app.clone().oneshot(test_request(&DeliveryRequest::complete(), "/")).await?;
/// assert_eq!(response.status(), 200);
///
/// let forged = DeliveryRequest::complete().token("Bearer forged");
/// let response = app.oneshot(test_request(&forged, "/")).await?;
/// assert_eq!(response.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn test_request(request: &DeliveryRequest, path: &str) -> Request {
    request.clone().into_request(path).map(Body::from)
}
