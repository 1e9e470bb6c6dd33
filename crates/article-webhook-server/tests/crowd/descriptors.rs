//! Limits of file descriptors: high for the crowd, and low for a server that uses them up.

use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{net::TcpStream, runtime::Runtime, time::sleep};

use crate::{
    child::Server,
    good::{deliver, delivery},
    role::Role,
};

/// Raises the limit of this process and its children as far as the system allows.
pub(crate) fn raise_the_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let enough = maximum.is_none_or(|maximum| maximum >= 4_096);
    assert!(enough, "the crowd needs 4096 open files: raise the limit, `ulimit -Hn`");
    setrlimit(Resource::Nofile, Rlimit { current: maximum.or(Some(4_096)), maximum })
        .expect("a limit may be raised to its maximum");
}

pub(crate) fn deliveries_go_on_without_free_descriptors() {
    let server = Server::start(Role::Starved);
    let runtime = Runtime::new().expect("there are threads");
    runtime.block_on(async {
        let mut silent = Vec::new();
        for _ in 0..2 * Role::DESCRIPTORS {
            silent.push(TcpStream::connect(server.address).await.expect("the backlog takes it"));
        }
        sleep(Duration::from_millis(200)).await;
        let open = server.descriptors();
        assert!(open + 2 >= Role::DESCRIPTORS, "only {open} files are open: this shows nothing");
        let (start, before) = (Instant::now(), server.processor_time());
        let delivery = delivery();
        let mut longest = Duration::ZERO;
        for _ in 0..20 {
            silent.push(TcpStream::connect(server.address).await.expect("the backlog takes it"));
            longest = longest.max(deliver(server.address, &delivery).await);
        }
        assert!(start.elapsed() < Duration::from_secs(4), "time closed them, not need");
        sleep(Duration::from_secs(1)).await;
        let busy = server.processor_time() - before;
        println!(
            "descriptors: {open} of {} open, 20 deliveries stored, the longest took {} ms, {} ms of processor time",
            Role::DESCRIPTORS,
            longest.as_millis(),
            busy.as_millis(),
        );
        assert!(busy < Duration::from_millis(500), "a busy loop: {busy:?}");
    });
}
