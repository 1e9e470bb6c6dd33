use std::{
    net::{SocketAddr, TcpListener},
    pin::Pin,
    thread::{self, JoinHandle},
};

use actix_web::{
    App, Error, HttpMessage, HttpServer,
    dev::{Service, ServiceRequest, ServiceResponse},
    error::{ErrorGatewayTimeout, PayloadError},
    rt,
    web::{self, ServiceConfig},
};
use article_webhook_actix_web::{
    ArticleComplete, Retry, RunToCompletion, receive, receive_capability,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::time::timeout;

use super::server::Mount;
use crate::site::{GIVES_UP_AFTER, SMALL, Site, Style, capability_key};

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
    let layer = RunToCompletion::new(receiver.clone());
    let layered = web::resource(site.path(Style::Layer))
        .app_data(receiver.clone())
        .route(web::post().to(on_article.clone()))
        .wrap(layer);
    let extract = web::resource(site.path(Style::Extract))
        .app_data(receiver)
        .route(web::post().to(on_article));
    if site == Site::SmallLayer {
        config.service(receive.wrap_fn(limit)).service(extract.wrap_fn(limit));
        config.service(layered.wrap_fn(limit));
    } else if site == Site::GivesUp {
        config.service(layered.wrap_fn(give_up));
    } else {
        config.service(receive).service(extract).service(layered);
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

/// A middleware that gives up a request.
fn give_up<S, B>(
    request: ServiceRequest,
    next: &S,
) -> impl Future<Output = Result<ServiceResponse<B>, Error>> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error>,
{
    let response = next.call(request);
    async {
        let response = timeout(GIVES_UP_AFTER, response).await;
        response.unwrap_or_else(|_| Err(ErrorGatewayTimeout("a time-out layer")))
    }
}

pub(crate) fn mounting(mounts: Vec<Mount>) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    move |config| {
        for mount in mounts.clone() {
            mounted(config, mount);
        }
    }
}

/// Serves until `stop`, and then until `end`, which its workers live to see.
pub(crate) fn serve_until(
    workers: usize,
    configure: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    stop: impl Future<Output = ()> + Send + 'static,
    end: impl Future<Output = ()> + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("the listener is bound");
    let process = thread::spawn(move || {
        let app = move || App::new().configure(configure.clone());
        let server = HttpServer::new(app).workers(workers).disable_signals().listen(listener);
        rt::System::new().block_on(async {
            let server = server.expect("it listens").run();
            let handle = server.handle();
            rt::spawn(async move {
                stop.await;
                handle.pause().await;
                end.await;
                handle.stop(true).await;
            });
            server.await.expect("it serves");
        });
    });
    (address, process)
}
