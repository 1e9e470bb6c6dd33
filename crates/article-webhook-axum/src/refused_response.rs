use std::fmt;

use article_webhook::Refused;
use axum_core::response::{IntoResponse, Response};

use crate::response::response;

/// The rejection of the extractors: axum answers with it, and the handler does not run.
///
/// It is no [`std::error::Error`]: `?` would make a [`Retry`](crate::Retry) of it, and 503 the answer to a forgery.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, RefusedResponse};
///
/// // Only for handlers that inspect the refusal themselves:
/// async fn on_article(article: Result<ArticleComplete, RefusedResponse>) -> Result<(), RefusedResponse> {
///     match article {
///         Ok(ArticleComplete(result, ..)) => Ok(println!("received {:?}", result.job_id)),
///         Err(refused) => {
///             println!("refused: {refused}");
///             Err(refused)
///         }
///     }
/// }
/// # use article_webhook_axum::fixture::{self, Defect, DeliveryRequest, DeliveryRequestExt};
/// # let app = axum::Router::new().route("/", axum::routing::post(on_article)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |delivery: DeliveryRequest| app.clone().oneshot(delivery.request("/"));
/// # assert_eq!(send(fixture::complete()).await?.status(), 200);
/// # assert_eq!(send(fixture::complete().defect(Defect::TooDeep)).await?.status(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RefusedResponse {
    refused: Refused,
}

impl RefusedResponse {
    pub(crate) fn new(refused: Refused) -> Self {
        Self { refused }
    }

    /// The refused delivery: the cause, and the job if it is known. `None` is for what only actix-web's adapter finds at
    /// run time: an application without a receiver.
    #[must_use]
    pub fn refused(&self) -> Option<&Refused> {
        Some(&self.refused)
    }
}

impl fmt::Display for RefusedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refused.fmt(f)
    }
}

impl fmt::Debug for RefusedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RefusedResponse({self})")
    }
}

impl IntoResponse for RefusedResponse {
    fn into_response(self) -> Response {
        response(self.refused.answer())
    }
}
