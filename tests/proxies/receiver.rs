//! The receivers behind the proxies, and what reached their sinks.

use std::{
    future::{IntoFuture, pending},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use actix_web::web;
use article_webhook::{AuthToken, Delivery, Receiver, Refused, Reply, Sink, fixture::TOKEN};
use article_webhook_server::Server;
use article_webhook_tests::serve;
use axum::{Router, routing::any};
use bytes::Bytes;

pub(crate) const PATH: &str = "/webhooks/articles";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
    /// The tower service on hyper.
    Hyper,
    /// The tower service on `article-webhook-server`.
    Server,
}

impl Framework {
    pub(crate) const ALL: [Self; 4] = [Self::Axum, Self::ActixWeb, Self::Hyper, Self::Server];

    /// Serves on a port of the loopback, until the process ends.
    pub(crate) fn serve(self, record: &Record) -> SocketAddr {
        let receiver = Receiver::new(AuthToken::new(TOKEN).expect("the token is a legal one"));
        let record = record.clone();
        match self {
            Self::ActixWeb => serve::actix_web(move |config| {
                let receive = article_webhook_actix_web::receive(receiver.clone(), record.clone());
                config.service(web::resource(PATH).to(receive));
            }),
            Self::Axum => {
                let receive = article_webhook_axum::receive(receiver, record);
                axum(Router::new().route(PATH, any(receive)))
            }
            Self::Hyper => {
                let receive = article_webhook_tower::receive(receiver, record);
                axum(Router::new().route_service(PATH, receive))
            }
            Self::Server => {
                let receive = article_webhook_tower::receive(receiver, record);
                let router = Router::new().route_service(PATH, receive);
                serve::on_a_runtime(|listener| Server::new(listener).serve(router, pending()))
            }
        }
    }
}

fn axum(router: Router) -> SocketAddr {
    serve::on_a_runtime(|listener| axum::serve(listener, router).into_future())
}

/// What reached the sinks of some receivers. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Reached>>);

#[derive(Debug, Default)]
struct Reached {
    deliveries: Vec<(String, Bytes)>,
    /// The jobs of authentic deliveries that were refused.
    refused: Vec<String>,
}

impl Sink for Record {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let delivery = (delivery.job_id().to_string(), delivery.body().clone());
        self.with(|reached| reached.deliveries.push(delivery));
        Reply::Stored
    }

    fn refused(&self, refused: &Refused) {
        let job_id = refused.job_id().map(ToString::to_string).unwrap_or_default();
        self.with(|reached| reached.refused.push(job_id));
    }
}

impl Record {
    fn with<T>(&self, work: impl FnOnce(&mut Reached) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The bodies of this job's deliveries since the last time.
    pub(crate) fn take(&self, job_id: &str) -> Vec<Bytes> {
        self.with(|reached| {
            let of_job = reached.deliveries.extract_if(.., |(id, _)| id == job_id);
            of_job.map(|(_, body)| body).collect()
        })
    }

    /// The jobs of all deliveries that were not taken.
    pub(crate) fn others(&self) -> Vec<String> {
        self.with(|reached| reached.deliveries.iter().map(|(id, _)| id.clone()).collect())
    }

    /// Whether the refusal of a delivery of this job reaches a sink within this time.
    pub(crate) fn is_notified_of(&self, job_id: &str, within: Duration) -> bool {
        let end = Instant::now() + within;
        loop {
            if self.with(|reached| reached.refused.iter().any(|id| id == job_id)) {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}
