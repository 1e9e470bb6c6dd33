use std::{
    net::{SocketAddr, TcpListener},
    thread::{self, JoinHandle},
};

use article_webhook_axum::{ArticleComplete, Retry, RunToCompletion, receive, receive_capability};
use axum::{
    Router,
    body::Body,
    extract::Request,
    http::StatusCode,
    middleware::{Next, from_fn, map_request},
    response::IntoResponse,
    routing::{any, post},
};
use http_body_util::Limited;
use tokio::{runtime, time::timeout};

use super::server::Mount;
use crate::site::{GIVES_UP_AFTER, SMALL, Site, Style, capability_key};

pub(crate) fn router(mounts: &[Mount]) -> Router {
    let routers = mounts.iter().cloned().map(mounted);
    routers.fold(Router::new(), Router::merge)
}

fn mounted(mount: Mount) -> Router {
    let Mount { site, receiver, application } = mount;
    let (sink, path) = (application.clone(), site.path(Style::Receive));
    if site == Site::Capability {
        let path = format!("{path}/{{capability}}");
        return Router::new()
            .route(&path, any(receive_capability(receiver, capability_key(), sink)));
    }
    let on_article = |ArticleComplete(result, ..): ArticleComplete| async {
        application.handle(result).await.map_err(Retry::because)
    };
    let layer = RunToCompletion::new(receiver.clone());
    let router = Router::new()
        .route(&site.path(Style::Extract), post(on_article.clone()))
        .route(&site.path(Style::Layer), post(on_article).layer(layer))
        .route(&path, any(receive(receiver.clone(), sink)))
        .with_state(receiver);
    match site {
        // As `RequestBodyLimitLayer` does with a body whose length is not declared.
        Site::SmallLayer => router.layer(map_request(async |request: Request| {
            request.map(|body| Body::new(Limited::new(body, SMALL)))
        })),
        Site::GivesUp => router.layer(from_fn(async |request: Request, next: Next| {
            let response = timeout(GIVES_UP_AFTER, next.run(request)).await;
            response.unwrap_or_else(|_| StatusCode::GATEWAY_TIMEOUT.into_response())
        })),
        _ => router,
    }
}

/// Serves until `stop`, and then runs until `end`.
pub(crate) fn serve_until(
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
    end: impl Future<Output = ()> + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.set_nonblocking(true).expect("the socket takes its options");
    let address = listener.local_addr().expect("the listener is bound");
    let process = thread::spawn(|| {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("there are threads").block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("it listens");
            let served = axum::serve(listener, router).with_graceful_shutdown(stop).await;
            served.expect("it serves");
            end.await;
        });
    });
    (address, process)
}
