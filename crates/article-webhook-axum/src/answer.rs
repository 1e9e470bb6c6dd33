use std::{error::Error, fmt};

use article_webhook::Answer;
use axum_core::{
    body::Body,
    response::{IntoResponse, Response},
};

/// A delivery that was not let in, as the rejection of an extractor: axum answers with it, and the
/// handler does not run. Holds the core's [`Refused`](article_webhook::Refused).
///
/// ```
/// use article_webhook_axum::{ArticleComplete, Refused};
///
/// // Only for handlers that want to look at the refusal themselves:
/// async fn on_article(article: Result<ArticleComplete, Refused>) -> Result<(), Refused> {
///     match article {
///         Ok(ArticleComplete(result)) => Ok(println!("received {:?}", result.job_id)),
///         Err(refused) => {
///             println!("refused: {}", refused.0.rejection());
///             Err(refused)
///         }
///     }
/// }
/// # use article_webhook_axum::{fixture::{self, Post, Spoil}, test_request};
/// # let app = axum::Router::new().route("/", axum::routing::post(on_article)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |post: Post| app.clone().oneshot(test_request(&post, "/"));
/// # assert_eq!(send(Post::complete()).await?.status(), 200);
/// # assert_eq!(send(Post::complete().spoiled(Spoil::TooDeep)).await?.status(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Refused(pub article_webhook::Refused);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        response(self.0.answer())
    }
}

/// The handler could not do its work now: 503 with `Retry-After: 10`, and the service comes again.
///
/// Every type that implements [`Error`] becomes one by `?`; what does not, such as `anyhow::Error` and
/// `Box<dyn Error>`, by `.map_err(Retry::because)?`. The error is logged with the feature `tracing`, and never sent.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, Retry};
///
/// async fn on_article(ArticleComplete(result): ArticleComplete) -> Result<(), Retry> {
///     let path = format!("/no/such/folder/{}", result.article.title.len());
///     std::fs::write(path, result.article.html.as_untrusted_str())?; // 503 when the disk is full
///     Ok(()) // 200
/// }
/// # use article_webhook_axum::{fixture::{self, Post}, test_request};
/// # let app = axum::Router::new().route("/", axum::routing::post(on_article)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let response = app.oneshot(test_request(&Post::complete(), "/")).await?;
/// # assert_eq!(response.status(), 503);
/// # assert_eq!(response.headers()["retry-after"], "10");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Retry(Answer);

impl Retry {
    /// A retry for a reason that is no [`Error`].
    ///
    /// ```
    /// use article_webhook_axum::Retry;
    /// use axum::response::IntoResponse;
    ///
    /// assert_eq!(Retry::because("the search index is being rebuilt").into_response().status(), 503);
    /// ```
    pub fn because(reason: impl fmt::Display) -> Self {
        Self(Answer::retry(&reason))
    }
}

impl<E: Error> From<E> for Retry {
    fn from(error: E) -> Self {
        Self::because(error)
    }
}

impl IntoResponse for Retry {
    fn into_response(self) -> Response {
        response(self.0)
    }
}

pub(crate) fn response(answer: Answer) -> Response {
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let body = Body::from(answer.body());
    response.body(body).expect("an answer is made of constants")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_a_reason_to_come_again() {
        let response = Retry::from(fmt::Error).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "10");
    }
}
