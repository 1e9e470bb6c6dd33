use std::{net::SocketAddr, time::Duration};

use article_webhook_server::Server;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use crate::common::*;

const WAY: Duration = Duration::from_millis(20);

/// Passes on what it reads, each piece after 20 ms.
async fn pass_on(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        sleep(WAY).await;
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
    _ = to.shutdown().await;
}

/// The address of a proxy that is 20 ms away from the server, and keeps each connection as long as its sender does.
async fn far_from(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(server).await.expect("the server listens");
            let ((near_reads, near_writes), (far_reads, far_writes)) =
                (near.into_split(), far.into_split());
            tokio::spawn(pass_on(near_reads, far_writes));
            tokio::spawn(pass_on(far_reads, near_writes));
        }
    });
    address
}

/// The time jumps from one timer to the next.
#[tokio::test(start_paused = true)]
async fn a_far_proxy_loses_no_delivery_on_a_connection_that_it_keeps_idle_for_under_75_s() {
    let running = Running::start(Server::builder(), counting());
    let proxy = far_from(running.address).await;
    for milliseconds in [2_900, 30_000, 59_000, 74_900] {
        let mut sender = Peer::connect(proxy).await;
        for _ in 0..3 {
            sender.send(post(3) + "abc").await;
            assert!(sender.answer().await.starts_with("HTTP/1.1 200"), "{milliseconds}");
            sleep(Duration::from_millis(milliseconds)).await;
        }
    }
}
