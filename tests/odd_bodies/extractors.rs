//! A handler behind the extractor, without the layer and with it.

use std::{
    future::ready,
    sync::{Arc, Mutex},
};

use actix_web::{
    App, HttpResponse,
    body::MessageBody,
    dev::{Service, ServiceResponse},
    test, web,
};
use article_webhook::{ArticleResult, Receiver, fixture};
use bytes::Bytes;
use tower::ServiceExt;

use crate::{
    log,
    rows::Row,
    seen::{Seen, Style},
};

pub(crate) const ALL: [Style; 4] = [
    ("axum, the bare extractor", |row| axum(row, Layer::None)),
    ("axum, under `RunToCompletion`", |row| axum(row, Layer::RunToCompletion)),
    ("actix-web, the bare extractor", |row| actix_web(row, Layer::None)),
    ("actix-web, under `RunToCompletion`", |row| actix_web(row, Layer::RunToCompletion)),
];

#[derive(Clone, Copy)]
enum Layer {
    None,
    RunToCompletion,
}

/// What the handler was given.
#[derive(Clone, Default)]
struct Handled(Arc<Mutex<Vec<String>>>);

impl Handled {
    fn add(&self, result: &ArticleResult) {
        let article = format!("the article {:?}", result.article.title);
        self.0.lock().expect("no handler panics").push(article);
    }

    fn seen(&self, answer: String) -> Seen {
        let handled = std::mem::take(&mut *self.0.lock().expect("no handler panics"));
        Seen { answer, handled, log: log::take(), ..Seen::default() }
    }
}

/// The status, and the word of the body. The frameworks write the success of a handler as 200 and as 204.
pub(crate) fn answer(status: u16, body: &Bytes) -> String {
    #[derive(serde::Deserialize)]
    struct Words {
        status: Option<String>,
        error: Option<String>,
    }

    match serde_json::from_slice::<Words>(body) {
        Ok(words) => format!("{status} `{}`", words.status.or(words.error).unwrap_or_default()),
        Err(_) if matches!(status, 200 | 204) => "2xx".to_owned(),
        Err(_) => status.to_string(),
    }
}

fn axum(row: &Row, layer: Layer) -> Seen {
    use article_webhook_axum::{ArticleComplete, RunToCompletion, fixture::DeliveryRequestExt};
    use axum::{Router, body, routing::post};

    let (receiver, handled) = (fixture::receiver(), Handled::default());
    let calls = handled.clone();
    let handler =
        post(async move |ArticleComplete(result, ..): ArticleComplete| calls.add(&result));
    let handler = match layer {
        Layer::RunToCompletion => handler.layer(RunToCompletion::new(receiver.clone())),
        Layer::None => handler,
    };
    let app: Router = Router::new().route("/", handler).with_state(receiver);
    let answer = runtime().block_on(async {
        let response = app.oneshot(row.request().request("/")).await.expect("a router answers");
        let status = response.status().as_u16();
        let body = body::to_bytes(response.into_body(), usize::MAX).await.expect("it is there");
        answer(status, &body)
    });
    handled.seen(answer)
}

fn actix_web(row: &Row, layer: Layer) -> Seen {
    use article_webhook_actix_web::{
        ArticleComplete, RunToCompletion, fixture::DeliveryRequestExt,
    };

    let (receiver, handled): (Receiver, _) = (fixture::receiver(), Handled::default());
    let calls = handled.clone();
    let handler = move |ArticleComplete(result, ..): ArticleComplete| {
        calls.add(&result);
        ready(HttpResponse::NoContent())
    };
    let resource = web::resource("/").route(web::post().to(handler));
    let answer = actix_web::rt::System::new().block_on(async {
        let app = App::new().app_data(receiver.clone());
        let request = row.request().request("/").to_request();
        match layer {
            Layer::RunToCompletion => {
                let resource = resource.wrap(RunToCompletion::new(receiver));
                answer_of_actix_web(&test::init_service(app.service(resource)).await, request).await
            }
            Layer::None => {
                answer_of_actix_web(&test::init_service(app.service(resource)).await, request).await
            }
        }
    });
    handled.seen(answer)
}

/// The answer of an application of actix-web to a request, whose type it does not name.
pub(crate) async fn answer_of_actix_web<S, R, B>(app: &S, request: R) -> String
where
    S: Service<R, Response = ServiceResponse<B>, Error = actix_web::Error>,
    B: MessageBody,
{
    let response = test::call_service(app, request).await;
    let status = response.status().as_u16();
    answer(status, &test::read_body(response).await)
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts")
}
