//! The middleware of actix-web.

use actix_web::{
    App, HttpResponse,
    middleware::{Compress, Logger},
    test::{TestRequest, call_service, init_service},
    web,
};
use article_webhook_actix_web::{
    fixture::{self, Defect, DeliveryRequestExt},
    receive,
};
use article_webhook_inbox::{Inbox, State};

use crate::{long_article, page};

#[actix_web::test]
async fn below_logger_and_compress_an_article_is_stored_and_a_page_is_compressed() {
    let inbox = Inbox::memory();
    let receiving = receive(fixture::receiver(), inbox.clone());
    let app = App::new()
        .wrap(Logger::default())
        .wrap(Compress::default())
        .service(web::resource("/articles").route(web::post().to(receiving)))
        .route("/page", web::get().to(async || HttpResponse::Ok().body(page())));
    let app = init_service(app).await;
    let gzip = ("accept-encoding", "gzip");

    let delivery = long_article().request("/articles").insert_header(gzip).to_request();
    assert_eq!(call_service(&app, delivery).await.status(), 200);
    assert_eq!(inbox.counts().await.expect("it is readable").of(State::Waiting), 1);
    // The feature for `Compress` lets actix-web's own extractors decompress bodies. The receiver does not.
    for (defect, expected) in [(Defect::WrongToken, 401), (Defect::Compressed, 415)] {
        let forged = fixture::complete().defect(defect).request("/articles");
        let refused = call_service(&app, forged.insert_header(gzip).to_request()).await;
        assert_eq!(refused.status(), expected, "{defect:?}");
    }

    let request = TestRequest::get().uri("/page").insert_header(gzip).to_request();
    let shown = call_service(&app, request).await;
    let encoding = shown.headers().get("content-encoding").expect("it is compressed");
    assert_eq!((shown.status().as_u16(), encoding.as_bytes()), (200, &b"gzip"[..]));
}
