use std::{
    cell::Cell,
    convert::Infallible,
    error::Error,
    fmt, mem,
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    HttpResponse, HttpResponseBuilder, ResponseError,
    body::{BodySize, MessageBody},
    dev::Payload,
    http::StatusCode,
    web::Bytes,
};
use article_webhook::Answer;

/// A delivery that was not let in, as the error of an extractor: actix-web answers with it, and the
/// handler does not run. A handler that takes it must return it, because it owns the unread rest of the
/// body: without that, actix-web never closes the connection of a stranger who never ends the body.
///
/// ```
/// use actix_web::HttpResponse;
/// use article_webhook_actix_web::{ArticleComplete, Refused};
///
/// // Only for handlers that want to look at the refusal themselves:
/// async fn on_article(article: Result<ArticleComplete, Refused>) -> Result<HttpResponse, Refused> {
///     match article {
///         Ok(ArticleComplete(result)) => Ok(HttpResponse::Ok().body(result.article.title)),
///         Err(refused) => {
///             println!("refused: {refused}");
///             Err(refused)
///         }
///     }
/// }
/// # use actix_web::{App, web};
/// # use article_webhook_actix_web::{fixture::{self, Post, Spoil}, test_request};
/// # let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_article));
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let post = Post::complete().spoiled(Spoil::TooDeep);
/// # let request = test_request(&post, "/");
/// # assert_eq!(actix_web::test::call_service(&app, request.to_request()).await.status(), 400);
/// # });
/// ```
pub struct Refused {
    refused: Option<article_webhook::Refused>,
    unread: Cell<Payload>,
}

impl Refused {
    pub(crate) fn new(refused: article_webhook::Refused, unread: Payload) -> Self {
        let (refused, unread) = (Some(refused), Cell::new(unread));
        Self { refused, unread }
    }

    pub(crate) fn no_receiver() -> Self {
        let (refused, unread) = (None, Cell::new(Payload::None));
        Self { refused, unread }
    }

    /// The core's refusal; `None` when the application forgot its receiver.
    ///
    /// ```
    /// use article_webhook_actix_web::Refused;
    ///
    /// fn is_forged(refused: &Refused) -> bool {
    ///     refused.refused().is_some_and(|refused| !refused.rejection().is_authentic())
    /// }
    /// ```
    #[must_use]
    pub fn refused(&self) -> Option<&article_webhook::Refused> {
        self.refused.as_ref()
    }

    fn answer(&self) -> Answer {
        self.refused.as_ref().map_or_else(Answer::no_receiver, article_webhook::Refused::answer)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refused {
            Some(refused) => refused.fmt(f),
            None => f.write_str("no Receiver in app_data: add .app_data(receiver) to the App"),
        }
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refused").field(&self.refused).finish()
    }
}

impl ResponseError for Refused {
    fn status_code(&self) -> StatusCode {
        status(self.answer())
    }

    fn error_response(&self) -> HttpResponse {
        response(self.answer(), self.unread.replace(Payload::None))
    }
}

/// The handler could not do its work now: 503 with `Retry-After: 10`, and the service comes again.
///
/// Every type that implements [`Error`] becomes one by `?`; what does not, such as `anyhow::Error` and
/// `Box<dyn Error>`, by `.map_err(Retry::because)?`. The error is logged with the feature `tracing`, and never sent.
///
/// ```
/// use actix_web::HttpResponse;
/// use article_webhook_actix_web::{ArticleComplete, Retry};
///
/// async fn on_article(ArticleComplete(result): ArticleComplete) -> Result<(), Retry> {
///     let path = format!("/no/such/folder/{}", result.article.title.len());
///     std::fs::write(path, result.article.html.as_untrusted_str())?; // 503 when the disk is full
///     Ok(())
/// }
/// # use actix_web::{App, web};
/// # use article_webhook_actix_web::{fixture::{self, Post}, test_request};
/// # let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_article));
/// # actix_web::rt::System::new().block_on(async {
/// # let app = actix_web::test::init_service(app).await;
/// # let post = Post::complete();
/// # let request = test_request(&post, "/");
/// # let response = actix_web::test::call_service(&app, request.to_request()).await;
/// # assert_eq!(response.status(), 503);
/// # assert_eq!(response.headers().get("retry-after").unwrap(), "10");
/// # });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Retry(Answer);

impl Retry {
    /// A retry for a reason that is no [`Error`].
    ///
    /// ```
    /// use actix_web::ResponseError;
    /// use article_webhook_actix_web::Retry;
    ///
    /// let retry = Retry::because("the search index is being rebuilt");
    /// assert_eq!(retry.error_response().status(), 503);
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

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the handler asks for another attempt")
    }
}

impl ResponseError for Retry {
    fn status_code(&self) -> StatusCode {
        status(self.0)
    }

    fn error_response(&self) -> HttpResponse {
        response(self.0, Payload::None)
    }
}

fn status(answer: Answer) -> StatusCode {
    // The same number in http 0.2, which actix-web is on.
    StatusCode::from_u16(answer.status().as_u16()).expect("an answer is made of constants")
}

pub(crate) fn response(answer: Answer, unread: Payload) -> HttpResponse {
    let mut response = HttpResponseBuilder::new(status(answer));
    for header in answer.headers() {
        if header == ("connection", "close") {
            // actix-web writes this header itself, and drops one that is set by hand.
            response.force_close();
        } else {
            response.insert_header(header);
        }
    }
    let text = Bytes::from_static(answer.body().as_bytes());
    response.body(Unread { text, _unread: unread })
}

/// A body that owns what was not read of the request's.
///
/// actix-web never closes a connection whose chunked payload was dropped unread, whatever the
/// response says; one that lives as long as the response, it does close.
pub(crate) struct Unread {
    text: Bytes,
    _unread: Payload,
}

impl MessageBody for Unread {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.text.len() as u64)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let text = mem::take(&mut self.text);
        Poll::Ready((!text.is_empty()).then_some(Ok(text)))
    }
}

#[cfg(test)]
mod tests {
    use article_webhook::{
        Rejection,
        fixture::{self, Post, Spoil},
    };

    use super::*;

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_core() {
        let post = Post::complete().spoiled(Spoil::WrongToken);
        let refused = fixture::receiver().open(post.headers()).unwrap_err();
        let refused = Refused::new(refused, Payload::None);
        assert_eq!(refused.to_string(), "the Authorization header is not an accepted token");
        assert!(
            format!("{refused:?}")
                .starts_with("Refused(Some(Refused { rejection: AuthorizationWrong")
        );
        assert_eq!(*refused.refused().unwrap().rejection(), Rejection::AuthorizationWrong);
        assert_eq!(
            (refused.status_code(), refused.error_response().status()),
            (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED)
        );
    }

    #[test]
    fn a_forgotten_receiver_is_told_with_its_fix() {
        let forgotten = Refused::no_receiver();
        assert_eq!(
            forgotten.to_string(),
            "no Receiver in app_data: add .app_data(receiver) to the App"
        );
        assert_eq!(format!("{forgotten:?}"), "Refused(None)");
        assert!(forgotten.refused().is_none());
        assert_eq!(forgotten.status_code(), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[test]
    fn every_error_is_a_reason_to_come_again() {
        let retry = Retry::from(std::fmt::Error);
        assert_eq!(retry.to_string(), "the handler asks for another attempt");
        assert_eq!(retry.status_code(), StatusCode::SERVICE_UNAVAILABLE);
        let response = retry.error_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers().get("retry-after").unwrap(), "10");
    }
}
