use article_webhook::fixture::Post;
use axum_core::{body::Body, extract::Request};

/// A fixture as a router takes it, for the unit tests of an application.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, fixture::{self, Post}, test_request};
/// use axum::{Router, routing::post};
/// use tower::ServiceExt;
///
/// async fn on_article(ArticleComplete(result): ArticleComplete) -> String {
///     result.article.title
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let app = Router::new().route("/", post(on_article)).with_state(fixture::receiver());
///
/// let response = app.clone().oneshot(test_request(&Post::complete(), "/")).await?;
/// assert_eq!(response.status(), 200);
///
/// let forged = Post::complete().token("Bearer forged");
/// let response = app.oneshot(test_request(&forged, "/")).await?;
/// assert_eq!(response.status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn test_request(post: &Post, path: &str) -> Request {
    post.clone().into_request(path).map(Body::from)
}
