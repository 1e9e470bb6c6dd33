//! Servers on ports of the loopback, each in a thread of its own, until the process ends.

use std::{
    io,
    net::{self, SocketAddr},
    thread,
};

use actix_web::{App, HttpServer, rt, web::ServiceConfig};
use tokio::{net::TcpListener, runtime::Builder};

fn listener() -> (net::TcpListener, SocketAddr) {
    let listener = net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("the listener is bound");
    (listener, address)
}

/// Serves as `serve` does with its listener, on a runtime of one thread.
///
/// # Panics
///
/// If there is no port.
pub fn on_a_runtime<F: Future<Output = io::Result<()>>>(
    serve: impl FnOnce(TcpListener) -> F + Send + 'static,
) -> SocketAddr {
    let (listener, address) = listener();
    thread::spawn(|| {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("there are threads").block_on(async {
            listener.set_nonblocking(true).expect("the socket takes its options");
            serve(TcpListener::from_std(listener).expect("it listens")).await.expect("it serves");
        });
    });
    address
}

/// Serves what `mount` mounts, on a single worker.
///
/// # Panics
///
/// If there is no port.
pub fn actix_web(mount: impl Fn(&mut ServiceConfig) + Clone + Send + 'static) -> SocketAddr {
    let (listener, address) = listener();
    thread::spawn(move || {
        let app = move || App::new().configure(mount.clone());
        let server = HttpServer::new(app).workers(1).disable_signals().listen(listener);
        rt::System::new().block_on(server.expect("it listens").run()).expect("it serves");
    });
    address
}
