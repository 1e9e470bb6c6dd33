//! A crowd of slow senders: a third is silent, a third sends half a head, a third sends a valid head and then a body
//! byte by byte.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    net::TcpStream,
    runtime::Runtime,
    task::JoinSet,
    time::{sleep, sleep_until},
};

use crate::{
    child::Server,
    good::{deliver, deliver_steadily, delivery},
    is_asked_for,
    peer::{Kind, stay},
    role::Role,
};

const SIZE: usize = 2_500;
const CLOSED_WITHIN: Duration = Duration::from_secs(11);
/// The promise, which is tested on a machine that does nothing else (`-- --long`). On a busy machine the test shows
/// only that no delivery is blocked.
const P99: Duration = Duration::from_millis(250);
const BLOCKED: Duration = Duration::from_secs(2);
const MEMORY: u64 = 64 << 10; // KiB

pub(crate) fn good_deliveries_go_on_and_the_crowd_is_closed() {
    let server = Server::start(Role::Ours);
    let runtime = Runtime::new().expect("there are threads");
    let _guard = runtime.enter();
    let (times, ends, before, most) = runtime.block_on(async {
        deliver_steadily(server.address, 200, Duration::from_secs(1)).await; // warms up
        let before = server.memory();
        let mut crowd = gather(server.address, SIZE, Duration::from_secs(20));
        let good = tokio::spawn(deliver_steadily(server.address, 200, Duration::from_secs(10)));
        let mut most = 0;
        let mut held = 0;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            sleep(Duration::from_millis(100)).await;
            most = most.max(server.memory());
            held = held.max(server.descriptors());
        }
        assert!(held > SIZE as u64, "only {held} were held at once");
        let times = good.await.expect("every delivery is stored");
        let mut ends = Vec::new();
        while let Some(end) = crowd.join_next().await {
            ends.push(end.expect("no task panics"));
        }
        (times, ends, before, most)
    });
    let p99 = times[times.len() * 99 / 100];
    let growth = most.saturating_sub(before);
    let last = ends.iter().map(|end| end.expect("all are closed")).max().expect("there are some");
    println!(
        "crowd: {SIZE} connections, p99 {} ms, memory +{} MiB, all closed after {:.1} s",
        p99.as_millis(),
        growth >> 10,
        last.as_secs_f64(),
    );
    assert!(times.len() > 1900, "only {} good deliveries", times.len());
    let bound = if is_asked_for("--long") { P99 } else { BLOCKED };
    assert!(p99 < bound, "{p99:?}");
    assert!(growth < MEMORY, "{growth} KiB");
    assert!(last < CLOSED_WITHIN, "{last:?}");
}

/// A silent connection has no buffers.
pub(crate) fn silent_connections_cost_little_memory() {
    const LITTLE: u64 = 16 << 10; // KiB
    let server = Server::start(Role::Ours);
    let runtime = Runtime::new().expect("there are threads");
    let growth = runtime.block_on(async {
        deliver_steadily(server.address, 200, Duration::from_secs(1)).await; // warms up
        let before = server.memory();
        let mut silent = Vec::new();
        for _ in 0..SIZE {
            silent.push(TcpStream::connect(server.address).await.expect("the server listens"));
        }
        sleep(Duration::from_millis(500)).await;
        assert!(server.descriptors() > SIZE as u64, "they are not held");
        server.memory().saturating_sub(before)
    });
    println!("silent: {SIZE} connections, memory +{:.1} MiB", growth as f64 / 1024.0);
    assert!(growth < LITTLE, "{growth} KiB");
}

/// A control: the measurement can fail.
pub(crate) fn planted_axum_serve_keeps_every_connection() {
    let server = Server::start(Role::Axum);
    let runtime = Runtime::new().expect("there are threads");
    let size = 30;
    let open = runtime.block_on(async {
        let ends = gather(server.address, size, CLOSED_WITHIN).join_all().await;
        deliver(server.address, &delivery()).await;
        ends.iter().filter(|end| end.is_none()).count()
    });
    println!("planted: axum::serve keeps {open} of {size} open for {} s", CLOSED_WITHIN.as_secs());
    assert_eq!(open, size);
}

/// All connect within about a second.
fn gather(address: SocketAddr, size: usize, patience: Duration) -> JoinSet<Option<Duration>> {
    let start = tokio::time::Instant::now();
    let delivery: &'static [u8] = delivery().leak();
    let one = |index: usize| async move {
        sleep_until(start + Duration::from_millis(index as u64 * 1000 / SIZE as u64)).await;
        stay(Kind::ALL[index % 3], address, delivery, patience).await
    };
    (0..size).map(one).collect()
}
