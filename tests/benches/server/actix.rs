//! The servers on actix-web.

use std::{hint::black_box, net::TcpListener};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    rt::System,
    web::{self, Bytes, Json, PayloadConfig},
};
use article_webhook_actix_web::{ArticleComplete, fixture};

use crate::common::owned::OwnedResult;
use crate::role::Handler;

pub(crate) fn serve(listener: TcpListener, handler: Handler) {
    let receiver = fixture::receiver();
    let server = HttpServer::new(move || {
        let route = match handler {
            Handler::Article => web::post().to(article),
            Handler::Json => web::post().to(json),
            Handler::Buffering => web::post().to(buffering),
        };
        App::new()
            .app_data(receiver.clone())
            .app_data(PayloadConfig::new(16 << 20))
            .route("/", route)
    });
    let server = server.workers(1).listen(listener).expect("the socket is open");
    System::new().block_on(server.run()).expect("it never ends");
}

async fn article(ArticleComplete(result, ..): ArticleComplete) -> HttpResponse {
    black_box(result);
    HttpResponse::Ok().finish()
}

async fn json(result: Json<OwnedResult>) -> HttpResponse {
    black_box(result);
    HttpResponse::Ok().finish()
}

async fn buffering(request: HttpRequest, body: Bytes) -> HttpResponse {
    let token = request.headers().get("authorization");
    if token.is_none_or(|token| token != fixture::TOKEN) {
        return HttpResponse::Unauthorized().finish();
    }
    black_box(body);
    HttpResponse::Ok().finish()
}
