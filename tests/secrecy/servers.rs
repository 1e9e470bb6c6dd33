//! Each adapter at every site, behind a socket of the loopback.

use std::{net::SocketAddr, sync::Arc};

use actix_web::web;
use article_webhook_tests::serve;
use article_webhook_tower::RequireDeliveryLayer;
use axum::{
    Router,
    extract::Request,
    routing::{any, post},
};

use crate::{
    canary::Canaries,
    site::{BUG, Site},
};

/// Below this path the extractors are mounted once more, each under the layer.
pub(crate) const LAYERED: &str = "/layered";

pub(crate) fn axum(canaries: &Canaries) -> SocketAddr {
    use article_webhook_axum::{
        ArticleComplete, RawDelivery, Retry, RunToCompletion, receive, receive_capability,
    };

    let sinks = Site::SINKS.into_iter().map(|site| {
        let receiver = site.receiver(canaries);
        if site == Site::Capability {
            let key = Site::capability(canaries).0;
            let sink = any(receive_capability(receiver, key, site));
            return Router::new().route("/Capability/{capability}", sink);
        }
        Router::new().route(&format!("/{site:?}"), any(receive(receiver, site)))
    });
    let extractors = Site::EXTRACTORS.into_iter().map(|site| {
        let handler = match site {
            Site::ArticleFails => {
                post(async |_: ArticleComplete| Err::<(), _>(Retry::because(BUG)))
            }
            Site::ArticlePanics => post(async |_: ArticleComplete| -> () { panic!("{BUG}") }),
            Site::Delivery => post(async |_: RawDelivery| ()),
            _ => post(async |_: ArticleComplete| ()),
        };
        let receiver = site.receiver(canaries);
        let layered = handler.clone().layer(RunToCompletion::new(receiver.clone()));
        let router = Router::new().route(&format!("/{site:?}"), handler);
        router.route(&format!("{LAYERED}/{site:?}"), layered).with_state(receiver)
    });
    serve::axum(sinks.chain(extractors).fold(Router::new(), Router::merge))
}

/// A service inside a layer may log the header of the token, as this one does.
pub(crate) fn tower(canaries: &Canaries) -> SocketAddr {
    use article_webhook_tower::{receive, receive_capability};

    let log = async |request: Request| {
        let token = request.headers().get("authorization");
        tracing::info!(?token, "the request came through");
    };
    let layer = RequireDeliveryLayer::new(Site::Delivery.receiver(canaries));
    let layered = Router::new().route("/Delivery", any(log)).layer(layer);
    let sinks = Site::SINKS.into_iter().map(|site| {
        let receiver = site.receiver(canaries);
        if site == Site::Capability {
            let key = Site::capability(canaries).0;
            let sink = receive_capability(receiver, key, site);
            return Router::new().route_service("/Capability/{capability}", sink);
        }
        Router::new().route_service(&format!("/{site:?}"), receive(receiver, site))
    });
    serve::axum(sinks.fold(layered, Router::merge))
}

pub(crate) fn actix_web(canaries: Arc<Canaries>) -> SocketAddr {
    serve::actix_web(move |config| mount(config, &canaries))
}

fn mount(config: &mut web::ServiceConfig, canaries: &Canaries) {
    use article_webhook_actix_web::{
        ArticleComplete, RawDelivery, Retry, RunToCompletion, receive, receive_capability,
    };

    for site in Site::SINKS {
        let receiver = site.receiver(canaries);
        if site == Site::Capability {
            let sink = receive_capability(receiver, Site::capability(canaries).0, site);
            config.service(web::resource("/Capability/{capability}").to(sink));
        } else {
            config.service(web::resource(format!("/{site:?}")).to(receive(receiver, site)));
        }
    }
    for site in Site::EXTRACTORS {
        let receiver = site.receiver(canaries);
        let extract = |below: &str| {
            let resource = web::resource(format!("{below}/{site:?}"));
            let resource = if site == Site::Forgotten {
                resource
            } else {
                resource.app_data(receiver.clone())
            };
            let route = web::post();
            resource.route(match site {
                Site::ArticleFails => {
                    route.to(async |_: ArticleComplete| Err::<(), _>(Retry::because(BUG)))
                }
                Site::ArticlePanics => route.to(panics),
                Site::Delivery => route.to(async |_: RawDelivery| Ok::<(), Retry>(())),
                _ => route.to(async |_: ArticleComplete| Ok::<(), Retry>(())),
            })
        };
        config.service(extract(""));
        config.service(extract(LAYERED).wrap(RunToCompletion::new(receiver.clone())));
    }
}

async fn panics(_: article_webhook_actix_web::ArticleComplete) -> &'static str {
    panic!("{BUG}")
}
