use std::error::Error;

use article_webhook::adapter::RetryReason;
use axum_core::response::{IntoResponse, Response};

use crate::response::response;

/// The handler failed, and the service should retry: 503 with `Retry-After: 10`.
///
/// `?` converts any error that can be sent to another thread, also `anyhow::Error` and `Box<dyn Error + Send + Sync>`,
/// and any text. Other errors, such as `Box<dyn Error>` and those that borrow, are converted with
/// `.map_err(Retry::because)?`. The error is logged with its causes, as the field `cause`, and
/// not sent.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, Retry};
///
/// async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> Result<(), Retry> {
///     let path = format!("/no/such/folder/{}", result.article.title.len());
///     std::fs::write(path, result.article.html.as_untrusted_str())?; // 503 when the disk is full
///     Ok(()) // 200
/// }
/// # use article_webhook_axum::fixture::{self, DeliveryRequestExt};
/// # let app = axum::Router::new().route("/", axum::routing::post(on_article)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let response = app.oneshot(fixture::complete().request("/")).await?;
/// # assert_eq!(response.status(), 503);
/// # assert_eq!(response.headers()["retry-after"], "10");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Retry(RetryReason);

impl Retry {
    /// A retry for a reason that `?` does not convert: any error, also `Box<dyn Error>`, or a text.
    pub fn because<'a>(reason: impl Into<Box<dyn Error + 'a>>) -> Self {
        Self(RetryReason::of(reason))
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Retry {
    fn from(error: E) -> Self {
        let error: Box<dyn Error> = error.into();
        Self::because(error)
    }
}

impl IntoResponse for Retry {
    fn into_response(self) -> Response {
        response(self.0.answer())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[test]
    fn every_error_and_every_text_is_a_reason_to_retry() {
        let boxed: Box<dyn Error> = "no network".into();
        let text = "the index is being rebuilt".to_owned();
        for retry in [Retry::from(fmt::Error), Retry::because(boxed), Retry::because(&*text)] {
            let response = retry.into_response();
            assert_eq!(response.status(), 503);
            assert_eq!(response.headers()["retry-after"], "10");
        }
    }
}
