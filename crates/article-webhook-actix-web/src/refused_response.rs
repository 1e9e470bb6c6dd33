use std::{cell::Cell, fmt};

use actix_web::{HttpResponse, ResponseError, dev::Payload, http::StatusCode};
use article_webhook::{Answer, Refused, adapter};

use crate::response::{response, status};

/// actix-web looks the receiver up at run time, so an application without one compiles.
const NO_RECEIVER: &str = "no Receiver in app_data: add .app_data(receiver) to the App";
const NO_RECEIVER_BODY: &str = r#"{"error":"internal","message":"the application forgot its Receiver: add .app_data(receiver) to the App"}"#;

/// The error of the extractors: actix-web answers with it, and the handler does not run.
///
/// It is no [`std::error::Error`]: `?` would make a [`Retry`](crate::Retry) of it, and 503 the answer to a forgery.
///
/// A handler that takes it must return it. It owns the unread rest of the body; if that is dropped,
/// actix-web does not close the connection of a sender that never ends the body.
///
/// ```
/// use actix_web::HttpResponse;
/// use article_webhook_actix_web::{ArticleComplete, RefusedResponse};
///
/// // Only for handlers that inspect the refusal themselves:
/// async fn on_article(article: Result<ArticleComplete, RefusedResponse>) -> Result<HttpResponse, RefusedResponse> {
///     match article {
///         Ok(ArticleComplete(result, ..)) => Ok(HttpResponse::Ok().body(result.article.title)),
///         Err(refused) => {
///             println!("refused: {refused}");
///             Err(refused)
///         }
///     }
/// }
/// # use actix_web::{App, web};
/// # use article_webhook_actix_web::fixture::{self, Defect, DeliveryRequestExt};
/// # let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_article));
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let request = fixture::complete().defect(Defect::TooDeep).request("/").to_request();
/// # assert_eq!(actix_web::test::call_service(&app, request).await.status(), 400);
/// # });
/// ```
pub struct RefusedResponse {
    /// `None` if the application has no receiver.
    refused: Option<Refused>,
    unread: Cell<Payload>,
}

impl RefusedResponse {
    pub(crate) fn new(refused: Refused, unread: Payload) -> Self {
        let (refused, unread) = (Some(refused), Cell::new(unread));
        Self { refused, unread }
    }

    pub(crate) fn no_receiver() -> Self {
        let (refused, unread) = (None, Cell::new(Payload::None));
        Self { refused, unread }
    }

    /// The refused delivery: the cause, and the job if it is known. `None` if the application has no receiver.
    #[must_use]
    pub fn refused(&self) -> Option<&Refused> {
        self.refused.as_ref()
    }

    fn answer(&self) -> Answer {
        let no_receiver = || adapter::misconfigured_answer(NO_RECEIVER, NO_RECEIVER_BODY);
        self.refused.as_ref().map_or_else(no_receiver, Refused::answer)
    }
}

impl fmt::Display for RefusedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refused {
            Some(refused) => refused.fmt(f),
            None => f.write_str(NO_RECEIVER),
        }
    }
}

impl fmt::Debug for RefusedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RefusedResponse({self})")
    }
}

impl ResponseError for RefusedResponse {
    fn status_code(&self) -> StatusCode {
        status(self.answer())
    }

    fn error_response(&self) -> HttpResponse {
        response(self.answer(), self.unread.replace(Payload::None))
    }
}
