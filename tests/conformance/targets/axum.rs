use std::{
    net::{SocketAddr, TcpListener},
    thread,
};

use article_webhook_axum::{ArticleComplete, Retry, receive, receive_capability};
use axum::{
    Router,
    body::Body,
    extract::Request,
    middleware::map_request,
    routing::{any, post},
};
use http_body_util::Limited;
use tokio::runtime;

use super::server::Mount;
use crate::site::{SMALL, Site, Style, capability_key};

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
    let router = Router::new()
        .route(&site.path(Style::Extract), post(on_article))
        .route(&path, any(receive(receiver.clone(), sink)))
        .with_state(receiver);
    match site {
        // As `RequestBodyLimitLayer` does with a body whose length is not declared.
        Site::SmallLayer => router.layer(map_request(async |request: Request| {
            request.map(|body| Body::new(Limited::new(body, SMALL)))
        })),
        _ => router,
    }
}

/// Serves on a port of the loopback, from a thread with a runtime of its own.
pub(crate) fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.set_nonblocking(true).expect("the socket takes its options");
    let address = listener.local_addr().expect("the listener is bound");
    thread::spawn(|| {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("there are threads").block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("it listens");
            axum::serve(listener, router).await
        })
    });
    address
}
