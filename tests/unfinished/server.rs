use std::{
    env, fs, io,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    process::{self, Child, Command, Stdio},
    thread,
};

use article_webhook::{AuthToken, Delivery, Receiver, Reply, fixture::TOKEN};
use axum::{Router, routing::any};

/// What stands under the receiver of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
    /// The tower service on hyper, without this project's server, which has a budget of its own.
    Hyper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    Default,
    None,
}

impl Framework {
    pub(crate) const ALL: [Self; 3] = [Self::Axum, Self::ActixWeb, Self::Hyper];
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

/// Serves on a free port of the loopback, which it prints, until standard input ends. So no server outlives the
/// test.
pub(crate) fn serve(framework: Framework, budget: Budget) {
    thread::spawn(|| {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(0);
    });
    let receiver = receiver(budget);
    let sink = async |_: Delivery| Reply::Stored;
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
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

/// A server in a child process.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(framework: Framework, budget: Budget) -> Self {
        let mut process = Command::new(env::current_exe().expect("this program has a path"))
            .arg(argument(framework, budget))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs");
        let output = process.stdout.as_mut().expect("it is piped");
        let mut port = String::new();
        BufReader::new(output).read_line(&mut port).expect("the server prints its port");
        let port: u16 = port.trim().parse().expect("a port is a number");
        Self { process, address: (Ipv4Addr::LOCALHOST, port).into() }
    }

    /// The largest resident memory that the process ever had, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.expect("the server runs, on Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let amount = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: u64 = amount.expect("the status tells it").parse().expect("it is a number");
        kib << 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}
