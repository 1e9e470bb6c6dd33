use std::{env, io, net::TcpListener, time::Duration};

use article_webhook::{AuthToken, Delivery, Receiver, Reply, fixture::TOKEN};
use article_webhook_server::Server;
use axum::{Router, routing::any};

use crate::child::{self, ServerProcess};

/// What stands under the receiver of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
    /// The tower service on hyper, without this project's server.
    Hyper,
    /// The same on this project's server, which gives each head all the time that the test needs.
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    Default,
    None,
}

impl Framework {
    pub(crate) const ALL: [Self; 4] = [Self::Axum, Self::ActixWeb, Self::Hyper, Self::Server];

    pub(crate) fn start(self, budget: Budget) -> ServerProcess {
        ServerProcess::start(&argument(self, budget))
    }
}

const BUDGETS: [Budget; 2] = [Budget::Default, Budget::None];

fn argument(framework: Framework, budget: Budget) -> String {
    format!("--serve={framework:?},{budget:?}")
}

pub(crate) fn from_args() -> Option<(Framework, Budget)> {
    let given = env::args().nth(1)?;
    let all = Framework::ALL.into_iter().flat_map(|framework| BUDGETS.map(|it| (framework, it)));
    all.into_iter().find(|&(framework, budget)| argument(framework, budget) == given)
}

fn receiver(budget: Budget) -> Receiver {
    let builder = Receiver::builder(AuthToken::new(TOKEN).expect("the token is a legal one"));
    let builder = match budget {
        Budget::Default => builder,
        Budget::None => builder.body_budget(usize::MAX),
    };
    builder.build().expect("the settings are legal ones")
}

/// Serves on a free port of the loopback, which it prints.
pub(crate) fn serve(framework: Framework, budget: Budget) {
    child::end_with_the_parent();
    let receiver = receiver(budget);
    let sink = async |_: Delivery| Reply::Stored;
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    // A second call sets a longer backlog, so that thousands can connect at once.
    rustix::net::listen(&listener, 4_096).expect("the listener is bound");
    println!("{}", listener.local_addr().expect("the listener is bound").port());
    let served = match framework {
        Framework::ActixWeb => {
            use actix_web::{App, HttpServer, rt, web};
            let app = move || {
                let receive = article_webhook_actix_web::receive(receiver.clone(), sink);
                App::new().service(web::resource("/").to(receive))
            };
            let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
            rt::System::new().block_on(server.expect("it listens").run())
        }
        Framework::Axum => {
            let receive = article_webhook_axum::receive(receiver, sink);
            axum_serve(listener, Router::new().route("/", any(receive)))
        }
        Framework::Hyper => {
            let receive = article_webhook_tower::receive(receiver, sink);
            axum_serve(listener, Router::new().fallback_service(receive))
        }
        Framework::Server => {
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

/// hyper with axum's settings for connections.
fn axum_serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let runtime = tokio::runtime::Runtime::new().expect("there are threads");
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
    })
}
