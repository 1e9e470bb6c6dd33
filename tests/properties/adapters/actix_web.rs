use std::pin::Pin;

use actix_web::{
    App, Error,
    body::to_bytes,
    dev::{Payload, Service, ServiceResponse},
    error::PayloadError,
    http::{Method, header::HeaderName, header::HeaderValue},
    test::{TestRequest, init_service},
    web::{self, ServiceConfig},
};
use article_webhook_actix_web::{ArticleComplete, Retry, receive};
use futures_util::TryStreamExt;

use super::{
    Ledger,
    message::{Exchange, Message, Style, path},
};
use crate::properties::site::Site;

pub(super) struct Adapter {
    call: Box<dyn Fn(TestRequest, Payload) -> Calling>,
    ledger: Ledger,
}

type Calling = Pin<Box<dyn Future<Output = Result<ServiceResponse, Error>>>>;

impl Adapter {
    pub(super) async fn new() -> Self {
        let ledger = Ledger::default();
        let mount =
            |config: &mut _| Site::ALL.into_iter().for_each(|site| mounted(config, site, &ledger));
        let app = init_service(App::new().configure(mount)).await;
        let call = move |request: TestRequest, payload| -> Calling {
            let (request, _) = request.to_request().replace_payload(payload);
            Box::pin(app.call(request))
        };
        Self { call: Box::new(call), ledger }
    }

    pub(super) async fn exchange(&self, style: Style, message: &Message) -> Exchange {
        let body = message.pieces().map_err(|error| PayloadError::Incomplete(Some(error)));
        let payload = Payload::Stream { payload: Box::pin(body) as _ };
        let response = (self.call)(request(style, message), payload).await;
        let (_, response) = response.expect("the application answers").into_parts();
        let status = response.status().as_u16();
        let closes = !response.head().keep_alive();
        let (head, body) = response.into_parts();
        let body = to_bytes(body).await.expect("an answer is whole");
        let headers = head.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let exchange = Exchange::new(message, status, headers, body, self.ledger.take());
        if closes { exchange.closing() } else { exchange }
    }
}

fn mounted(config: &mut ServiceConfig, site: Site, ledger: &Ledger) {
    let (receiver, application) = (site.receiver(), ledger.clone());
    let on_article = move |ArticleComplete(result, ..): ArticleComplete| {
        let application = application.clone();
        async move { application.handle(result).await.map_err(Retry::because) }
    };
    let sink = receive(receiver.clone(), ledger.clone());
    config.service(web::resource(path(site, Style::Receive)).to(sink));
    config.service(
        web::resource(path(site, Style::Extract))
            .app_data(receiver)
            .route(web::post().to(on_article)),
    );
}

/// In the types of `http` 0.2, which takes what `http` 1 takes.
fn request(style: Style, message: &Message) -> TestRequest {
    let method = Method::from_bytes(message.method.as_str().as_bytes());
    let request = TestRequest::with_uri(&message.path(style));
    let request = request.method(method.expect("a method is one in both"));
    message.headers.iter().fold(request, |request, (name, value)| {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).expect("a name is one in both");
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value is one in both");
        request.append_header((name, value))
    })
}
