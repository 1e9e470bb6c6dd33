//! A crowd of slow senders: a third is silent, a third sends half a head, a third sends a valid head and then a body
//! byte by byte.

use std::{net::SocketAddr, time::Duration};

use tokio::{runtime::Runtime, task::JoinSet, time::sleep_until};

use crate::{
    child::ServerProcess,
    good::{deliver, delivery},
    is_asked_for,
    peer::{Kind, stay},
    role::Role,
};

const SIZE: usize = 2_500;
/// How long the crowd waits to be closed. A busy machine closes late, and a server without a deadline never.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How many deliveries are stored beside the whole crowd, at least. A server that the crowd blocks stores none.
const BESIDE: usize = 5;
/// How long a delivery takes beside the crowd, on a machine that does nothing else (`-- --long`).
const P99: Duration = Duration::from_millis(250);
const MEMORY: u64 = 64 << 20;

pub(crate) fn good_deliveries_go_on_and_the_crowd_is_closed() {
    let server = Role::Crowded.start();
    let runtime = Runtime::new().expect("there are threads");
    let (mut times, ends, growth) = runtime.block_on(async {
        let before = memory_in_use(&server).await;
        let crowd = tokio::spawn(gather(server.address, &Kind::ALL, SIZE, TIMEOUT).join_all());
        let (mut times, mut most) = (Vec::new(), before);
        // Each delivery is stored, or `deliver` fails: those beside the whole crowd, and those beside what is left.
        while !crowd.is_finished() {
            let time = deliver(server.address, &delivery()).await;
            most = most.max(server.memory());
            if is_whole(&server) {
                times.push(time);
            }
        }
        (times, crowd.await.expect("no task panics"), most - before)
    });
    assert!(times.len() >= BESIDE, "only {} deliveries beside the whole crowd", times.len());
    times.sort();
    let p99 = times[times.len() * 99 / 100];
    let ends: Option<Vec<_>> = ends.into_iter().collect();
    let ends = ends.expect("the server closes all");
    let (first, last) = (ends.iter().min().expect("many"), ends.iter().max().expect("many"));
    println!(
        "crowd: {SIZE} connections, {} deliveries beside all of them, p99 {} ms, memory +{} MiB, closed after {:.1} to \
         {:.1} s",
        times.len(),
        p99.as_millis(),
        growth >> 20,
        first.as_secs_f64(),
        last.as_secs_f64(),
    );
    assert!(*first >= Role::DEADLINE, "a connection was closed after {first:?}");
    assert!(p99 < P99 || !is_asked_for("--long"), "{p99:?}");
    assert!(growth < MEMORY, "{growth} bytes");
}

/// Whether the server has a connection for each of the crowd.
fn is_whole(server: &ServerProcess) -> bool {
    server.descriptors() > SIZE as u64
}

/// The memory of a server that has stored deliveries, several at once.
async fn memory_in_use(server: &ServerProcess) -> u64 {
    let one = |_| {
        let address = server.address;
        async move { deliver(address, &delivery()).await }
    };
    (0..100).map(one).collect::<JoinSet<_>>().join_all().await;
    server.memory()
}

/// A control: the measurement can fail.
pub(crate) fn planted_axum_serve_keeps_every_connection_without_a_head() {
    let server = Role::Axum.start();
    let runtime = Runtime::new().expect("there are threads");
    let (size, longer) = (30, Role::DEADLINE + Duration::from_secs(1));
    let open = runtime.block_on(async {
        let without_a_head = &[Kind::Silent, Kind::HalfHead];
        let ends = gather(server.address, without_a_head, size, longer).join_all().await;
        deliver(server.address, &delivery()).await;
        ends.iter().filter(|end| end.is_none()).count()
    });
    println!("planted: axum::serve keeps {open} of {size} open for {} s", longer.as_secs());
    assert_eq!(open, size);
}

/// All connect within about a second.
fn gather(
    address: SocketAddr,
    kinds: &'static [Kind],
    size: usize,
    timeout: Duration,
) -> JoinSet<Option<Duration>> {
    let start = tokio::time::Instant::now();
    let delivery: &'static [u8] = delivery().leak();
    let one = |index: usize| async move {
        sleep_until(start + Duration::from_millis(index as u64 * 1000 / SIZE as u64)).await;
        stay(kinds[index % kinds.len()], address, delivery, timeout).await
    };
    (0..size).map(one).collect()
}
