//! Articles, deliveries and defects for the unit tests of an application (feature `fixture`): those of the core, and
//! [`DeliveryRequestExt`], which makes what actix-web's tests need of them.

use actix_web::test::TestRequest;

use crate::ArticleComplete;

#[doc(inline)]
pub use article_webhook::fixture::*;

/// What a [`DeliveryRequest`] becomes in the tests of an actix-web application.
///
/// It is a trait, because the methods of a request under construction belong to the core, which knows no framework.
///
/// ```
/// use actix_web::{App, test, web};
/// use article_webhook_actix_web::{ArticleComplete, fixture::{self, Defect, DeliveryRequestExt}};
///
/// async fn on_article(ArticleComplete(result, delivery): ArticleComplete) -> String {
///     format!("{} for {}", result.article.title, delivery.target())
/// }
///
/// # actix_web::rt::System::new().block_on(async {
/// let answer = on_article(fixture::complete().title("Ten Tips").target("blog").extracted()).await;
/// assert_eq!(answer, "Ten Tips for blog");
///
/// let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_article));
/// let app = test::init_service(app).await;
/// let request = fixture::complete().request("/").to_request();
/// assert_eq!(test::call_service(&app, request).await.status(), 200);
///
/// let forged = fixture::complete().defect(Defect::WrongToken).request("/").to_request();
/// assert_eq!(test::call_service(&app, forged).await.status(), 401);
/// # });
/// ```
pub trait DeliveryRequestExt {
    /// The request as actix-web's tests take it: `call_service` after `to_request`.
    ///
    /// # Panics
    ///
    /// If the path or an added header is not a valid one.
    #[must_use]
    fn request(&self, path: &str) -> TestRequest;

    /// What the extractor makes of it, for a handler that is called as the function it is.
    ///
    /// # Panics
    ///
    /// If the extractor refuses it: no handler runs for such a request.
    #[must_use]
    fn extracted(&self) -> ArticleComplete;
}

impl DeliveryRequestExt for DeliveryRequest {
    fn request(&self, path: &str) -> TestRequest {
        let request = TestRequest::post().uri(path).set_payload(self.bytes().clone());
        // `set_payload` has already set the length.
        let headers = self.headers().iter().filter(|(name, _)| name != "Content-Length");
        headers.fold(request, |request, (name, value)| {
            request.append_header((name.as_str(), value.as_slice()))
        })
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
