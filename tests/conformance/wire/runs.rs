//! The layer around a handler: what becomes of handlers, senders and retries that overlap.

use std::{
    future::{pending, ready},
    time::Duration,
};

use article_webhook::{AuthToken, Receiver, Reply};
use tokio::sync::oneshot;

use super::hang_up::{Farewell, WaitingSink};
use crate::{
    answers::{Answer, DUPLICATE, RETRY_LATER, UNAUTHORIZED, UNAVAILABLE},
    call_log::Entry,
    connection::{CLIENT_TIMEOUT, Connection},
    request::{ARTICLE, Request, TOKEN, delivery},
    site::{Site, Style},
    targets::{
        actix_web, axum,
        axum::router,
        server::{Framework, Server},
    },
};

/// A handler under the layer that works until `end` is notified, in a server of its own.
struct Scene {
    sink: WaitingSink,
    server: Server,
    style: Style,
    site: Site,
}

impl Scene {
    fn new(framework: Framework, reply: Reply) -> Self {
        Self::at(Site::Default, framework, reply)
    }

    fn at(site: Site, framework: Framework, reply: Reply) -> Self {
        let mut sink = WaitingSink::new(reply);
        (sink.mount.site, sink.mount.receiver) = (site, receiver(site));
        let server = framework.serve(vec![sink.mount.clone()], sink.ledger.clone());
        let style = match framework {
            Framework::Axum | Framework::ActixWeb => Style::Layer,
            Framework::Tower => Style::LayerRequire,
        };
        Self { sink, server, style, site }
    }

    fn send(&self, request: &Request) -> Connection {
        let mut connection = self.server.connect();
        connection.send(request.wire(&self.site.path(self.style)));
        connection
    }

    /// Waits until a handler runs.
    fn begins(&self) {
        let begun = self.sink.ledger.take_when(1, CLIENT_TIMEOUT);
        assert!(matches!(begun[..], [Entry::Accepted(_) | Entry::Handled { .. }]), "{begun:?}");
    }

    /// Ends the handler that runs.
    fn end(&self) {
        self.sink.end.notify_one();
        assert_eq!(self.sink.ledger.take_when(1, CLIENT_TIMEOUT), [Entry::Finished]);
    }

    /// Nothing runs before a stranger is answered, who came later: servers have one thread here.
    fn is_idle(&self) -> bool {
        let mut stranger = self.send(&delivery().without("Authorization"));
        assert_eq!(status(&mut stranger), 401);
        self.sink.ledger.take().is_empty()
    }
}

/// A receiver that remembers successes.
fn receiver(site: Site) -> Receiver {
    let token = AuthToken::new(TOKEN).expect("the token is a legal one");
    let deadline = if site == Site::Late { Duration::from_millis(50) } else { CLIENT_TIMEOUT };
    let builder = Receiver::builder(token).answer_deadline(deadline);
    builder.build().expect("the settings are legal ones")
}

fn status(connection: &mut Connection) -> u16 {
    connection.response().expect("there is an answer").status
}

fn answers(connection: &mut Connection, answer: Answer) -> bool {
    let response = connection.response().expect("there is an answer");
    (response.status, &*response.body) == (answer.status, answer.body)
}

#[test]
fn a_handler_whose_sender_hangs_up_runs_to_its_end_and_the_retry_needs_no_other() {
    for framework in Framework::ALL {
        for farewell in [Farewell::Close, Farewell::Reset] {
            let scene = Scene::new(framework, Reply::Stored);
            assert!(scene.sink.finishes_alone(&scene.server, scene.style, farewell));
            assert!(
                answers(&mut scene.send(&delivery()), DUPLICATE),
                "{framework:?}, {farewell:?}"
            );
            assert!(scene.is_idle(), "{framework:?}, {farewell:?}: it ran twice");
        }
    }
}

#[test]
fn a_retry_joins_the_handler_that_runs() {
    for framework in Framework::ALL {
        for (reply, answer) in [(Reply::Stored, DUPLICATE), (Reply::Retry, RETRY_LATER)] {
            let scene = Scene::new(framework, reply);
            let mut first = scene.send(&delivery());
            scene.begins();
            let mut retry = scene.send(&delivery());
            assert!(scene.is_idle(), "{framework:?}: it runs twice at a time");
            scene.end();
            assert_eq!(status(&mut first) < 300, reply == Reply::Stored, "{framework:?}");
            assert!(answers(&mut retry, answer), "{framework:?}, {reply:?}");
            let mut next = scene.send(&delivery());
            if reply == Reply::Stored {
                assert!(answers(&mut next, DUPLICATE), "{framework:?}");
            } else {
                // A failure is not remembered.
                scene.begins();
                scene.end();
                assert!(answers(&mut next, RETRY_LATER), "{framework:?}");
            }
        }
    }
}

#[test]
fn another_body_of_the_job_waits_and_another_job_does_not() {
    for framework in Framework::ALL {
        let scene = Scene::new(framework, Reply::Stored);
        let mut first = scene.send(&delivery());
        scene.begins();
        let mut other_body = scene.send(&delivery().body(ARTICLE.replace("Title", "Other")));
        assert!(scene.is_idle(), "{framework:?}: two bodies at a time");
        let job_2 = delivery().with("X-Service-Job-Id", "job_2");
        let mut other_job = scene.send(&job_2.body(ARTICLE.replace("job_1", "job_2")));
        scene.begins();
        // The other body is handled as soon as the first has been.
        scene.sink.end.notify_one();
        let next = scene.sink.ledger.take_when(2, CLIENT_TIMEOUT);
        let is_next =
            matches!(next[..], [Entry::Finished, Entry::Accepted(_) | Entry::Handled { .. }]);
        assert!(is_next, "{framework:?}: {next:?}");
        assert!(status(&mut first) < 300, "{framework:?}");
        for waiting in [&mut other_job, &mut other_body] {
            scene.end();
            assert!(status(waiting) < 300, "{framework:?}");
        }
    }
}

#[test]
fn urls_that_differ_in_their_query_have_handlers_of_their_own() {
    for framework in Framework::ALL {
        let scene = Scene::new(framework, Reply::Stored);
        let path = scene.site.path(scene.style);
        for query in ["", "?shop=1", "?shop=2"] {
            let mut connection = scene.server.connect();
            connection.send(delivery().wire(&[&*path, query].concat()));
            scene.begins();
            scene.end();
            assert!(status(&mut connection) < 300, "{framework:?}, {query}");
        }
    }
}

#[test]
fn a_handler_that_is_late_is_not_run_again_by_the_retries() {
    for framework in Framework::ALL {
        let scene = Scene::at(Site::Late, framework, Reply::Stored);
        let mut first = scene.send(&delivery());
        scene.begins();
        assert!(answers(&mut first, UNAVAILABLE), "{framework:?}");
        assert!(answers(&mut scene.send(&delivery()), UNAVAILABLE), "{framework:?}");
        scene.end();
        assert!(answers(&mut scene.send(&delivery()), DUPLICATE), "{framework:?}");
        assert!(scene.is_idle(), "{framework:?}: it ran twice");
    }
}

#[test]
fn a_stranger_learns_nothing_of_a_job_that_runs_or_is_remembered() {
    for framework in Framework::ALL {
        let scene = Scene::new(framework, Reply::Stored);
        let first = scene.send(&delivery());
        scene.begins();
        let mut stranger = scene.send(&delivery().with("Authorization", "Bearer guess"));
        assert!(answers(&mut stranger, UNAUTHORIZED), "{framework:?}");
        drop(first);
        assert!(scene.is_idle());
        scene.end();
        let mut stranger = scene.send(&delivery().without("Authorization"));
        assert!(answers(&mut stranger, UNAUTHORIZED), "{framework:?}");
        assert!(answers(&mut scene.send(&delivery()), DUPLICATE), "{framework:?}");
    }
}

#[test]
fn a_handler_runs_to_its_end_although_a_layer_around_it_gives_up() {
    for framework in [Framework::Axum, Framework::ActixWeb] {
        let scene = Scene::at(Site::GivesUp, framework, Reply::Stored);
        let mut first = scene.send(&delivery());
        scene.begins();
        assert_eq!(status(&mut first), 504, "{framework:?}");
        scene.end();
        assert!(answers(&mut scene.send(&delivery()), DUPLICATE), "{framework:?}");
        assert!(scene.is_idle(), "{framework:?}: it ran twice");
    }
}

#[derive(Debug, Clone, Copy)]
enum AfterStop {
    WaitsForHandlers,
    Ends,
}

/// Whether a handler whose sender is gone ends before its server's process does.
fn survives_a_shutdown(framework: Framework, after_stop: AfterStop) -> bool {
    let sink = WaitingSink::new(Reply::Stored);
    let (receiver, mounts) = (sink.mount.receiver.clone(), vec![sink.mount.clone()]);
    let (stop, stopping) = oneshot::channel();
    let (has_stopped, stopped) = oneshot::channel();
    let stopping = async { stopping.await.expect("it is stopped") };
    let end = async move {
        let _ = has_stopped.send(());
        if let AfterStop::WaitsForHandlers = after_stop {
            receiver.handlers_ended().await;
        }
    };
    let (address, process) = match framework {
        Framework::ActixWeb => {
            actix_web::serve_until(1, actix_web::mounting(mounts), stopping, end)
        }
        _ => axum::serve_until(router(&mounts), stopping, end),
    };
    let mut connection = Connection::open(address);
    connection.send(delivery().wire(&Site::Default.path(Style::Layer)));
    let begun = sink.ledger.take_when(1, CLIENT_TIMEOUT);
    assert!(matches!(begun[..], [Entry::Handled { .. }]), "{begun:?}");
    drop(connection);
    stop.send(()).expect("it is serving");
    stopped.blocking_recv().expect("it stops");
    let join = || process.join().expect("the server ends");
    match after_stop {
        AfterStop::WaitsForHandlers => {
            sink.end.notify_one();
            join();
        }
        AfterStop::Ends => {
            join();
            sink.end.notify_one();
        }
    }
    sink.ledger.take() == [Entry::Finished]
}

#[test]
fn a_shutdown_can_wait_for_the_handlers_whose_senders_are_gone() {
    for framework in [Framework::Axum, Framework::ActixWeb] {
        assert!(survives_a_shutdown(framework, AfterStop::WaitsForHandlers), "{framework:?}");
        assert!(
            !survives_a_shutdown(framework, AfterStop::Ends),
            "{framework:?}: none was at stake"
        );
    }
}

#[test]
fn the_workers_of_actix_web_share_one_run() {
    let mut sink = WaitingSink::new(Reply::Stored);
    sink.mount.receiver = receiver(Site::Default);
    let mounting = actix_web::mounting(vec![sink.mount.clone()]);
    let (address, _) = actix_web::serve_until(4, mounting, pending(), ready(()));
    let wire = delivery().wire(&Site::Default.path(Style::Layer));
    let mut senders: Vec<_> = (0..16).map(|_| Connection::open(address)).collect();
    senders.iter_mut().for_each(|sender| sender.send(&wire));
    let begun = sink.ledger.take_when(1, CLIENT_TIMEOUT);
    assert!(matches!(begun[..], [Entry::Handled { .. }]), "{begun:?}");
    sink.end.notify_one();
    let mut statuses: Vec<_> = senders.iter_mut().map(status).collect();
    statuses.sort_unstable();
    assert_eq!((&statuses[..15], statuses[15]), (&[200; 15][..], 204));
    assert_eq!(sink.ledger.take(), [Entry::Finished]);
}
