use std::{
    net::{SocketAddr, TcpListener},
    thread,
};

use article_webhook_axum::{ArticleComplete, Retry, receive, receive_capability};
use axum::{
    Router,
    routing::{any, post},
};
use tokio::runtime;

use super::server::Mount;
use crate::site::{Site, Style, capability_key};

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
    let on_article = |ArticleComplete(result): ArticleComplete| async {
        application.handle(result).await.map_err(Retry::because)
    };
    Router::new()
        .route(&site.path(Style::Extract), post(on_article))
        .route(&path, any(receive(receiver.clone(), sink)))
        .with_state(receiver)
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
