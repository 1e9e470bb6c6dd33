//! A crowd of slow senders: a third is silent, a third sends half a head, a third sends a valid head and then a body
//! byte by byte.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};

use crate::{
    child::ServerProcess,
    good::{deliver, delivery},
    is_asked_for,
    role::Role,
};

const SIZE: usize = 2_500;
/// How long the crowd waits to be closed. A busy machine closes late, and a server without a deadline never.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How many deliveries are stored beside the whole crowd, at least. A server that the crowd blocks stores none.
const BESIDE: usize = 5;
/// How long a delivery takes beside the crowd, on a machine that does nothing else (`-- --long`).
const P99: Duration = Duration::from_millis(250);

pub(crate) fn good_deliveries_go_on_and_the_crowd_is_closed() {
    let server = Role::Crowded.start();
    let runtime = Runtime::new().expect("there are threads");
    let (mut times, ends) = runtime.block_on(async {
        let crowd = tokio::spawn(gather(server.address).join_all());
        let mut times = Vec::new();
        // Each delivery is stored, or `deliver` fails: those beside the whole crowd, and those beside what is left.
        while !crowd.is_finished() {
            let time = deliver(server.address, &delivery()).await;
            if is_whole(&server) {
                times.push(time);
            }
        }
        (times, crowd.await.expect("no task panics"))
    });
    assert!(times.len() >= BESIDE, "only {} deliveries beside the whole crowd", times.len());
    times.sort();
    let p99 = times[times.len() * 99 / 100];
    let ends: Option<Vec<_>> = ends.into_iter().collect();
    let ends = ends.expect("the server closes all");
    let (first, last) = (ends.iter().min().expect("many"), ends.iter().max().expect("many"));
    println!(
        "crowd: {SIZE} connections, {} deliveries beside all of them, p99 {} ms, closed after {:.1} to {:.1} s",
        times.len(),
        p99.as_millis(),
        first.as_secs_f64(),
        last.as_secs_f64(),
    );
    assert!(*first >= Role::DEADLINE, "a connection was closed after {first:?}");
    assert!(p99 < P99 || !is_asked_for("--long"), "{p99:?}");
}

/// Whether the server has a connection for each of the crowd.
fn is_whole(server: &ServerProcess) -> bool {
    server.descriptors() > SIZE as u64
}

/// All connect within about a second.
fn gather(address: SocketAddr) -> JoinSet<Option<Duration>> {
    let start = tokio::time::Instant::now();
    let delivery: &'static [u8] = delivery().leak();
    let one = |index: usize| async move {
        sleep_until(start + Duration::from_millis(index as u64 * 1000 / SIZE as u64)).await;
        stay(Kind::ALL[index % 3], address, delivery).await
    };
    (0..SIZE).map(one).collect()
}

#[derive(Clone, Copy)]
enum Kind {
    Silent,
    /// Half a head, and then one more byte per second.
    HalfHead,
    /// A good head with the token, and then one byte of the body per second.
    SlowBody,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Silent, Self::HalfHead, Self::SlowBody];

    fn bytes_to_send_at_once(self, delivery: &[u8]) -> usize {
        match self {
            Self::Silent => 0,
            Self::HalfHead => 60,
            Self::SlowBody => delivery.len() / 2,
        }
    }
}

/// Stays until the server closes the connection, and returns the time since its start, or `None` if it is still open
/// after the timeout.
async fn stay(kind: Kind, address: SocketAddr, delivery: &[u8]) -> Option<Duration> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let (mut reads, mut writes) = stream.split();
    let mut sent = kind.bytes_to_send_at_once(delivery);
    writes.write_all(&delivery[..sent]).await.ok()?;
    let trickle = async {
        if let Kind::Silent = kind {
            std::future::pending::<()>().await;
        }
        loop {
            sleep(Duration::from_secs(1)).await;
            sent += 1;
            if writes.write_all(&delivery[sent - 1..sent]).await.is_err() {
                // The reading side reports the end.
                std::future::pending::<()>().await;
            }
        }
    };
    let to_the_end = async {
        // A response may come first: 408. A reset is an end too.
        while reads.read(&mut [0; 512]).await.is_ok_and(|read| read > 0) {}
    };
    let ended = async {
        tokio::select! {
            () = trickle => {}
            () = to_the_end => {}
        }
    };
    timeout(TIMEOUT, ended).await.ok().map(|()| start.elapsed())
}
