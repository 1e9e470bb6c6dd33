use actix_web::test::TestRequest;
use article_webhook::fixture::DeliveryRequest;

/// The request of a fixture, for the unit tests of an application.
///
/// ```
/// use actix_web::{App, HttpResponse, test, web};
/// use article_webhook_actix_web::{ArticleComplete, fixture::{self, DeliveryRequest}, test_request};
///
/// async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> HttpResponse {
///     HttpResponse::Ok().body(result.article.title)
/// }
///
/// # actix_web::rt::System::new().block_on(async {
/// let app = App::new().app_data(fixture::receiver()).service(web::resource("/").to(on_article));
/// let app = test::init_service(app).await;
///
/// let request = test_request(&DeliveryRequest::complete(), "/").to_request();
/// assert_eq!(test::call_service(&app, request).await.status(), 200);
///
/// let request = test_request(&DeliveryRequest::complete().token("Bearer forged"), "/").to_request();
/// assert_eq!(test::call_service(&app, request).await.status(), 401);
/// # });
/// ```
#[must_use]
pub fn test_request(fixture: &DeliveryRequest, path: &str) -> TestRequest {
    let request = TestRequest::post().uri(path).set_payload(fixture.body().clone());
    // `set_payload` has already set the length.
    let headers = fixture.headers().iter().filter(|(name, _)| name != "Content-Length");
    headers.fold(request, |request, (name, value)| {
        request.append_header((name.as_str(), value.as_slice()))
    })
}
