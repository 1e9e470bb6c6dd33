use std::{
    net::{SocketAddr, TcpListener},
    thread,
};

use actix_web::{
    App, HttpServer, rt,
    web::{self, ServiceConfig},
};
use article_webhook_actix_web::{ArticleComplete, Retry, receive, receive_capability};

use super::server::Mount;
use crate::site::{Site, Style, capability_key};

fn mounted(config: &mut ServiceConfig, mount: Mount) {
    let Mount { site, receiver, application } = mount;
    let (sink, path) = (application.clone(), site.path(Style::Receive));
    if site == Site::Capability {
        let sink = receive_capability(receiver, capability_key(), sink);
        config.service(web::resource(format!("{path}/{{capability}}")).to(sink));
        return;
    }
    let on_article = move |ArticleComplete(result): ArticleComplete| {
        let application = application.clone();
        async move { application.handle(result).await.map_err(Retry::because) }
    };
    config.service(web::resource(path).to(receive(receiver.clone(), sink)));
    config.service(
        web::resource(site.path(Style::Extract))
            .app_data(receiver)
            .route(web::post().to(on_article)),
    );
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
