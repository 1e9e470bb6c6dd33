use std::{env, io, net::TcpListener, time::Duration};

use article_webhook::{Delivery, Reply, fixture};
use article_webhook_server::Server;
use axum::{Router, routing::any};

use crate::child::{self, ServerProcess};

/// What stands under the receiver of a child process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
    /// The tower service on hyper, without this project's server.
    Hyper,
    /// The same on this project's server, which gives each head all the time that the test needs.
    Server,
}

impl Framework {
    pub(crate) const ALL: [Self; 4] = [Self::Axum, Self::ActixWeb, Self::Hyper, Self::Server];

    fn argument(self) -> String {
        format!("--serve={self:?}")
    }

    pub(crate) fn from_args() -> Option<Self> {
        let given = env::args().nth(1)?;
        Self::ALL.into_iter().find(|framework| framework.argument() == given)
    }

    pub(crate) fn start(self) -> ServerProcess {
        ServerProcess::start(&self.argument())
    }

    /// Serves on a free port of the loopback, which it prints.
    pub(crate) fn serve(self) {
        child::end_with_the_parent();
        let receiver = fixture::receiver();
        let sink = async |_: Delivery| Reply::Stored;
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        // A second call sets a longer backlog, so that thousands can connect at once.
        rustix::net::listen(&listener, 4_096).expect("the listener is bound");
        println!("{}", listener.local_addr().expect("the listener is bound").port());
        let served = match self {
            Self::ActixWeb => {
                use actix_web::{App, HttpServer, rt, web};
                let app = move || {
                    let receive = article_webhook_actix_web::receive(receiver.clone(), sink);
                    App::new().service(web::resource("/").to(receive))
                };
                let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
                rt::System::new().block_on(server.expect("it listens").run())
            }
            Self::Axum => {
                let receive = article_webhook_axum::receive(receiver, sink);
                axum_serve(listener, Router::new().route("/", any(receive)))
            }
            Self::Hyper => {
                let receive = article_webhook_tower::receive(receiver, sink);
                axum_serve(listener, Router::new().fallback_service(receive))
            }
            Self::Server => {
                let receive = article_webhook_tower::receive(receiver, sink);
                let runtime = tokio::runtime::Runtime::new().expect("there are threads");
                runtime.block_on(async {
                    listener.set_nonblocking(true)?;
                    let builder = Server::builder().head_deadline(Duration::from_secs(60));
                    let server = builder.build(tokio::net::TcpListener::from_std(listener)?)?;
                    server.serve(receive, std::future::pending()).await
                })
            }
        };
        served.expect("it never ends");
    }
}

/// hyper with axum's settings for connections.
fn axum_serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let runtime = tokio::runtime::Runtime::new().expect("there are threads");
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
    })
}
