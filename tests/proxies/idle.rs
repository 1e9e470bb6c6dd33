//! A proxy keeps its connection to the receiver, and uses it again after a pause.

use std::{
    io,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use article_webhook_tests::serve::Framework;

use crate::{
    configuration::{self, Form, Site},
    program::{Program, Proxy},
    record::Record,
    run::say,
    situation::{DELIVERY, STRANGER, Situation},
};

/// Over the deadline of `article-webhook-server` for a head. The clock of a proxy cannot be stepped.
const PAUSE: Duration = Duration::from_secs(4);

/// A delivery, a stranger's request, a delivery, a pause and another delivery. The last two come by one connection between
/// proxy and receiver.
pub(crate) fn tries(program: Program, form: Form) {
    if !program.is_installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let record = Record::default();
    let framework = Framework::Server;
    let (receiver, connections) = counted(framework.serve(record.clone()));
    let ip = Ipv4Addr::new(127, fastrand::u8(1..255), fastrand::u8(..), fastrand::u8(1..255));
    let site = Site { form, address: (ip, 8000).into(), framework, receiver };
    let proxy = Proxy::start(program, folder, &configuration::file(program, &[site]));
    proxy.wait_for(site.address);

    let status = |situation: &Situation, job_id| {
        let request = situation.request(job_id, &situation.body(job_id));
        situation.status(site.address, &request)
    };
    let name = program.name();
    assert_eq!(status(&DELIVERY, "job_1"), Some(200), "{name}: {}", proxy.log());
    assert_eq!(status(&STRANGER, "job_2"), Some(401), "{name}: {}", proxy.log());
    // A refusal may end a connection, if the body of the request comes late.
    assert_eq!(status(&DELIVERY, "job_3"), Some(200), "{name}: {}", proxy.log());
    let before = connections.load(Relaxed);
    thread::sleep(PAUSE);
    assert_eq!(status(&DELIVERY, "job_4"), Some(200), "{name}: {}", proxy.log());
    let taken = ["job_1", "job_3", "job_4"].map(|job| record.take(job).len());
    assert_eq!(taken, [1, 1, 1], "{name}");
    let after = connections.load(Relaxed);
    assert_eq!(after, before, "{name}: the receiver ended a connection that the proxy kept");
    say(&format!(
        "{name}: one connection to the receiver before and after {PAUSE:?} without a request"
    ));
}

/// An address whose connections go on to the receiver, and how many there have been.
fn counted(receiver: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("the listener is bound");
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near?, TcpStream::connect(receiver)?);
            counted.fetch_add(1, Relaxed);
            let (back, forth) = ((far.try_clone()?, near.try_clone()?), (near, far));
            for (mut from, mut to) in [back, forth] {
                thread::spawn(move || {
                    _ = io::copy(&mut from, &mut to);
                    to.shutdown(Shutdown::Write)
                });
            }
        }
        Ok::<_, io::Error>(())
    });
    (address, count)
}
