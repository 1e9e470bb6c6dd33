use std::{
    net::{SocketAddr, TcpListener},
    pin::Pin,
    thread,
};

use actix_web::{
    App, HttpMessage, HttpServer,
    dev::{Service, ServiceRequest},
    error::PayloadError,
    rt,
    web::{self, ServiceConfig},
};
use article_webhook_actix_web::{ArticleComplete, Retry, receive, receive_capability};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};

use super::server::Mount;
use crate::site::{SMALL, Site, Style, capability_key};

fn mounted(config: &mut ServiceConfig, mount: Mount) {
    let Mount { site, receiver, application } = mount;
    let (sink, path) = (application.clone(), site.path(Style::Receive));
    if site == Site::Capability {
        let sink = receive_capability(receiver, capability_key(), sink);
        config.service(web::resource(format!("{path}/{{capability}}")).to(sink));
        return;
    }
    let on_article = move |ArticleComplete(result, ..): ArticleComplete| {
        let application = application.clone();
        async move { application.handle(result).await.map_err(Retry::because) }
    };
    let receive = web::resource(path).to(receive(receiver.clone(), sink));
    let extract = web::resource(site.path(Style::Extract))
        .app_data(receiver)
        .route(web::post().to(on_article));
    if site == Site::SmallLayer {
        config.service(receive.wrap_fn(limit)).service(extract.wrap_fn(limit));
    } else {
        config.service(receive).service(extract);
    }
}

/// A middleware that limits bodies to [`SMALL`] bytes, with the error that actix-web has for this.
fn limit<S: Service<ServiceRequest>>(mut request: ServiceRequest, next: &S) -> S::Future {
    let mut left = SMALL;
    let limited = request.take_payload().map(move |chunk| {
        let chunk = chunk?;
        left = left.checked_sub(chunk.len()).ok_or(PayloadError::Overflow)?;
        Ok(chunk)
    });
    let payload: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(limited);
    request.set_payload(payload.into());
    next.call(request)
}

/// Serves on a port of the loopback, from a thread with a runtime of its own.
pub(crate) fn serve(mounts: Vec<Mount>) -> SocketAddr {
    serve_configured(move |config| {
        for mount in mounts.clone() {
            mounted(config, mount);
        }
    })
}

pub(crate) fn serve_configured(
    configure: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("the listener is bound");
    thread::spawn(move || {
        let app = move || App::new().configure(configure.clone());
        let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
        rt::System::new().block_on(server.expect("it listens").run())
    });
    address
}
