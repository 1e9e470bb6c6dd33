use article_webhook::Refused;
use axum_core::response::{IntoResponse, Response};

use crate::response::response;

/// The rejection of the extractors: axum answers with it, and the handler does not run. Holds the
/// [`Refused`] delivery.
///
/// ```
/// use article_webhook_axum::{ArticleComplete, RefusedResponse};
///
/// // Only for handlers that inspect the refusal themselves:
/// async fn on_article(article: Result<ArticleComplete, RefusedResponse>) -> Result<(), RefusedResponse> {
///     match article {
///         Ok(ArticleComplete(result, ..)) => Ok(println!("received {:?}", result.job_id)),
///         Err(refused) => {
///             println!("refused: {}", refused.0.rejection());
///             Err(refused)
///         }
///     }
/// }
/// # use article_webhook_axum::{fixture::{self, DeliveryRequest, Defect}, test_request};
/// # let app = axum::Router::new().route("/", axum::routing::post(on_article)).with_state(fixture::receiver());
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// # use tower::ServiceExt;
/// # let send = |request: DeliveryRequest| app.clone().oneshot(test_request(&request, "/"));
/// # assert_eq!(send(DeliveryRequest::complete()).await?.status(), 200);
/// # assert_eq!(send(DeliveryRequest::complete().with_defect(Defect::TooDeep)).await?.status(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a handler may take the refusal out")]
pub struct RefusedResponse(pub Refused);

impl IntoResponse for RefusedResponse {
    fn into_response(self) -> Response {
        response(self.0.answer())
    }
}
