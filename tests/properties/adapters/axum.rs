use article_webhook_axum::{ArticleComplete, Retry, receive};
use axum::{
    Router,
    body::{Body, to_bytes},
    response::Response,
    routing::{any, post},
};
use http::header;
use tower::ServiceExt;

use super::{
    Ledger,
    message::{Exchange, Message, Style, path},
};
use crate::properties::site::Site;

pub(super) struct Adapter {
    router: Router,
    ledger: Ledger,
}

impl Adapter {
    pub(super) fn behind(fault: fn(Router) -> Router) -> Self {
        let ledger = Ledger::default();
        let routers = Site::ALL.into_iter().map(|site| mounted(site, &ledger));
        Self { router: fault(routers.fold(Router::new(), Router::merge)), ledger }
    }

    pub(super) async fn exchange(&self, style: Style, message: &Message) -> Exchange {
        let Ok(response) = self.router.clone().oneshot(message.request(style)).await;
        exchange(message, response, &self.ledger).await
    }
}

fn mounted(site: Site, ledger: &Ledger) -> Router {
    let (receiver, application) = (site.receiver(), ledger.clone());
    let on_article = |ArticleComplete(result, ..): ArticleComplete| async {
        application.handle(result).await.map_err(Retry::because)
    };
    Router::new()
        .route(&path(site, Style::Extract), post(on_article))
        .route(&path(site, Style::Receive), any(receive(receiver.clone(), ledger.clone())))
        .with_state(receiver)
}

/// What came of a request, in a framework on `http` 1.
pub(super) async fn exchange(message: &Message, response: Response, ledger: &Ledger) -> Exchange {
    let (head, body): (_, Body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("an answer is whole");
    let headers = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let closes = head.headers.get(header::CONNECTION).is_some_and(|value| value == "close");
    let exchange = Exchange::new(message, head.status.as_u16(), headers, body, ledger.take());
    if closes { exchange.closing() } else { exchange }
}
