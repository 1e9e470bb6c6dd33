//! Floods of strangers: new connections at a steady rate, each held for as long as the server allows.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use article_webhook_axum::fixture;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    runtime::Builder,
    sync::Semaphore,
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use crate::good::request;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Attack {
    /// A wrong token, and a body that never ends.
    WrongToken,
    /// Requests that are refused with 405, one behind another, and no answer is read.
    Unread,
}

/// A connection that the server has not finished after this time is given up.
const TIMEOUT: Duration = Duration::from_secs(20);
/// A stranger that cannot connect at once goes away.
const CONNECT: Duration = Duration::from_secs(1);
/// A little longer than the server reads on behind a refusal.
const LINGER: Duration = Duration::from_millis(600);
const TICK: Duration = Duration::from_millis(10);

/// How many strangers came.
#[derive(Debug, Default)]
pub(crate) struct Flood {
    pub(crate) started: AtomicUsize,
    pub(crate) connected: AtomicUsize,
    pub(crate) is_over: AtomicBool,
}

impl Attack {
    /// Attacks until the flood is over, in a thread of its own. No more than `most` strangers are connected at once.
    pub(crate) fn start(
        self,
        address: SocketAddr,
        per_second: u32,
        most: usize,
        flood: Arc<Flood>,
    ) -> JoinHandle<()> {
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("there are descriptors");
            runtime.block_on(self.run(address, per_second, most, flood));
        })
    }

    async fn run(self, address: SocketAddr, per_second: u32, most: usize, flood: Arc<Flood>) {
        let (room, bytes) = (Arc::new(Semaphore::new(most)), Arc::<[u8]>::from(self.bytes()));
        let (start, mut clock) = (Instant::now(), interval(TICK));
        clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while !flood.is_over.load(Relaxed) {
            clock.tick().await;
            let due = start.elapsed().as_millis() * u128::from(per_second) / 1000;
            while (flood.started.load(Relaxed) as u128) < due {
                let Ok(room) = room.clone().try_acquire_owned() else {
                    break;
                };
                flood.started.fetch_add(1, Relaxed);
                let (bytes, flood) = (bytes.clone(), flood.clone());
                tokio::spawn(async move {
                    self.hold(address, &bytes, &flood.connected).await;
                    drop(room);
                });
            }
        }
    }

    fn bytes(self) -> Vec<u8> {
        match self {
            Self::WrongToken => {
                let delivery = request(&fixture::generated(1, 16 << 10).token("Bearer guess"));
                delivery[..delivery.len() / 2].to_vec()
            }
            Self::Unread => b"GET / HTTP/1.1\r\nHost: receiver.test\r\n\r\n".repeat(300),
        }
    }

    /// Connects, and holds the connection until the server closes it.
    async fn hold(self, address: SocketAddr, bytes: &[u8], connected: &AtomicUsize) {
        let socket = TcpSocket::new_v4().expect("there are descriptors");
        if let Self::Unread = self {
            socket.set_recv_buffer_size(1 << 10).expect("it may be small");
        }
        let Ok(Ok(mut stream)) = timeout(CONNECT, socket.connect(address)).await else {
            return;
        };
        connected.fetch_add(1, Relaxed);
        let held = async {
            let written = stream.write_all(bytes).await;
            match self {
                // It reads its refusal, and stays until the server closes both directions.
                Self::WrongToken => {
                    while stream.read(&mut [0; 512]).await.is_ok_and(|n| n > 0) {}
                    sleep(LINGER).await;
                }
                // The answers stay unread, so only another write shows that the server has closed.
                Self::Unread => {
                    while written.is_ok() && stream.write_all(b"G").await.is_ok() {
                        sleep(Duration::from_secs(1)).await;
                    }
                }
            }
        };
        _ = timeout(TIMEOUT, held).await;
    }
}
