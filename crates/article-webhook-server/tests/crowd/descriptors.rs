//! Limits of file descriptors: high for the crowd, and low for a server that uses them up.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{net::TcpStream, runtime::Runtime, time::sleep};

use crate::{
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

/// Silent connections take all descriptors. Deliveries wait for their deadline, and are stored.
pub(crate) fn deliveries_go_on_after_the_descriptors_were_used_up() {
    let server = Role::Starved.start();
    let runtime = Runtime::new().expect("there are threads");
    runtime.block_on(async {
        let mut silent = Vec::new();
        for _ in 0..Role::DESCRIPTORS {
            silent.push(TcpStream::connect(server.address).await.expect("the backlog takes it"));
        }
        sleep(Duration::from_millis(200)).await;
        let open = server.descriptors();
        assert!(open + 2 >= Role::DESCRIPTORS, "only {open} files are open: this shows nothing");
        let before = server.processor_time();
        let delivery = delivery();
        let first = deliver(server.address, &delivery).await;
        let busy = server.processor_time() - before;
        for _ in 0..20 {
            deliver(server.address, &delivery).await;
        }
        println!(
            "descriptors: {open} of {} open, 21 deliveries stored, the first after {:.1} s and {} ms of processor time",
            Role::DESCRIPTORS,
            first.as_secs_f64(),
            busy.as_millis(),
        );
        assert!(first < Duration::from_secs(6), "the deadline of a silent connection is 3 s");
        assert!(busy < Duration::from_millis(500), "a busy loop: {busy:?}");
    });
}
