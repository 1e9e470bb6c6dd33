use article_webhook_tower::{Receive, receive};
use axum::body::Body;
use tower::ServiceExt;

use super::{
    Ledger,
    axum::exchange,
    message::{Exchange, Message, Style},
};
use crate::properties::site::Site;

pub(super) struct Adapter {
    services: [Receive<Ledger>; Site::ALL.len()],
    ledger: Ledger,
}

impl Default for Adapter {
    fn default() -> Self {
        let ledger = Ledger::default();
        let services = Site::ALL.map(|site| receive(site.receiver(), ledger.clone()));
        Self { services, ledger }
    }
}

impl Adapter {
    pub(super) async fn exchange(&self, message: &Message) -> Exchange {
        let service = self.services[message.site as usize].clone();
        let Ok(response) = service.oneshot(message.request(Style::Receive)).await;
        exchange(message, response.map(Body::new), &self.ledger).await
    }
}
