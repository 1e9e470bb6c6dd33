use std::{collections::HashMap, convert::Infallible, future::pending, net::SocketAddr, sync::Arc};

use article_webhook_server::{Server, ServerBody};
use article_webhook_tests::serve::on_a_runtime;
use article_webhook_tower::{
    Delivery, Receive, RequestBody, RequireDeliveryLayer, RunToCompletion, Sink,
    article_webhook::Answer, receive, receive_capability,
};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Either, Full, Limited};
use tower::{Layer, ServiceExt, service_fn};

use super::server::Mount;
use crate::{
    application::Application,
    site::{SMALL, Site, Style, capability_key},
};

/// What stands behind a path: neither service knows of paths.
struct Mounted {
    mount: Mount,
    style: Style,
    sink: Receive<Application>,
}

impl Mounted {
    fn new(mount: Mount, style: Style) -> Self {
        let Mount { site, receiver, application } = mount.clone();
        let sink = match site {
            Site::Capability => receive_capability(receiver, capability_key(), application),
            _ => receive(receiver, application),
        };
        Self { mount, style, sink }
    }

    async fn call(
        &self,
        request: Request<ServerBody>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        match self.mount.site {
            // As `RequestBodyLimitLayer` does with a body whose length is not declared.
            Site::SmallLayer => self.serve(request.map(|body| Limited::new(body, SMALL))).await,
            _ => self.serve(request).await,
        }
    }

    async fn serve(
        &self,
        request: Request<impl RequestBody>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        if self.style == Style::Receive {
            return self.sink.clone().oneshot(request).await;
        }
        let Mount { receiver, application, .. } = self.mount.clone();
        let sink = application.clone();
        let layer =
            RequireDeliveryLayer::new(receiver).on_refused(move |refused| sink.given(refused));
        let service = layer.layer(service_fn(move |request| {
            let application = application.clone();
            async move { Ok::<_, Infallible>(inner(&application, request).await) }
        }));
        // The bodies of refusals and of the inner service have the same type here.
        if self.style == Style::Require {
            let response = service.oneshot(request).await?;
            return Ok(response.map(Either::into_inner));
        }
        let service = RunToCompletion::new(self.mount.receiver.clone()).layer(service);
        let response = service.oneshot(request).await?;
        Ok(response.map(|body| match body {
            Either::Left(body) => body,
            Either::Right(body) => body.into_inner(),
        }))
    }
}

/// The inner service calls the sink, so that the ledger shows the deliveries that came through.
async fn inner(
    application: &Application,
    mut request: Request<Full<Bytes>>,
) -> Response<Full<Bytes>> {
    let delivery: Delivery =
        request.extensions_mut().remove().expect("the layer lets nothing but deliveries through");
    let body = request.into_body().collect().await.expect("the body is there already");
    assert_eq!(body.to_bytes(), delivery.body());
    let answer = Answer::from(application.accept(delivery).await);
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    response.body(answer.body().into()).expect("an answer is made of constants")
}

pub(crate) fn serve(mounts: Vec<Mount>) -> SocketAddr {
    let routes: HashMap<_, _> = mounts
        .into_iter()
        .flat_map(|mount| {
            [Style::Receive, Style::Require, Style::LayerRequire]
                .map(|style| (mount.clone(), style))
        })
        .map(|(mount, style)| (mount.site.path(style), Mounted::new(mount, style)))
        .collect();
    let routes = Arc::new(routes);
    let service = service_fn(move |request| {
        let routes = Arc::clone(&routes);
        async move { route(&routes, request).await }
    });
    on_a_runtime(|listener| Server::new(listener).serve(service, pending()))
}

async fn route(
    routes: &HashMap<String, Mounted>,
    request: Request<ServerBody>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let capability = routes.get(above).filter(|mounted| mounted.mount.site == Site::Capability);
    match routes.get(path).or(capability) {
        Some(mounted) => mounted.call(request).await,
        None => {
            let response = Response::builder().status(StatusCode::NOT_FOUND);
            Ok(response.body(Full::default()).expect("a status is a response"))
        }
    }
}
