use std::{error::Error, fmt};

use actix_web::{HttpResponse, ResponseError, dev::Payload, http::StatusCode};
use article_webhook::adapter::RetryReason;

use crate::response::response;

/// The handler failed, and the service should retry: 503 with `Retry-After: 10`.
///
/// `?` converts any error that can be sent to another thread, also `anyhow::Error` and `Box<dyn Error + Send + Sync>`,
/// and any text. Other errors, such as `Box<dyn Error>` and those that borrow, are converted with
/// `.map_err(Retry::because)?`. The error is logged with its causes, as the field `cause`, and
/// not sent.
///
/// ```
/// use actix_web::HttpResponse;
/// use article_webhook_actix_web::{ArticleComplete, Retry};
///
/// async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> Result<(), Retry> {
///     let path = format!("/no/such/folder/{}", result.article.title.len());
///     std::fs::write(path, result.article.html.as_untrusted_str())?; // 503 when the disk is full
///     Ok(())
/// }
/// # use actix_web::{App, web};
/// # use article_webhook_actix_web::fixture::{self, DeliveryRequestExt};
/// # let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_article));
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let request = fixture::complete().request("/");
/// # let response = actix_web::test::call_service(&app, request.to_request()).await;
/// # assert_eq!(response.status(), 503);
/// # assert_eq!(response.headers().get("retry-after").unwrap(), "10");
/// # });
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

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the handler asks for a retry")
    }
}

impl ResponseError for Retry {
    fn status_code(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn error_response(&self) -> HttpResponse {
        response(self.0.answer(), Payload::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_and_every_text_is_a_reason_to_retry() {
        let retry = Retry::from(std::fmt::Error);
        assert_eq!(retry.to_string(), "the handler asks for a retry");
        assert_eq!(retry.status_code(), StatusCode::SERVICE_UNAVAILABLE);
        let response = retry.error_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers().get("retry-after").unwrap(), "10");
        let boxed: Box<dyn Error> = "no network".into();
        let text = "the search index is being rebuilt".to_owned();
        for because in [Retry::because(boxed), Retry::because(&*text)] {
            assert_eq!(because.status_code(), StatusCode::SERVICE_UNAVAILABLE);
        }
    }
}
