use crate::{
    call_log::Entry,
    connection::Connection,
    request::{ARTICLE, delivery},
    site::{BUDGET, SMALL, Site, Style},
    targets::server::{Framework, Server},
};

/// A server, and a path at which unfinished bodies have a small budget.
struct Crowd {
    server: Server,
    style: Style,
    path: String,
}

fn on_each_server(check: impl Fn(&Crowd)) {
    for framework in Framework::ALL {
        for style in framework.styles() {
            let path = Site::Crowded.path(style);
            check(&Crowd { server: framework.serve_all(), style, path });
        }
    }
}

impl Crowd {
    fn send(&self, bytes: &[u8]) -> Connection {
        let mut connection = self.server.connect();
        connection.send(bytes);
        connection
    }

    /// The status of a good delivery.
    fn status(&self) -> u16 {
        self.send(&delivery().wire(&self.path)).response().expect("there is an answer").status
    }

    /// Servers have one thread here: once it has answered a stranger, it has seen what came before.
    fn catch_up(&self) {
        let stranger = delivery().without("Authorization").wire(&self.path);
        assert_eq!(self.send(&stranger).response().map(|answer| answer.status), Ok(401));
    }

    /// Senders of bodies that use the budget up, but for less than an article.
    fn fill(&self) -> Vec<Connection> {
        let stalled = delivery().body(&ARTICLE[..80]).stalled(SMALL - 80).wire(&self.path);
        let senders = (0..BUDGET / 80).map(|_| self.send(&stalled)).collect();
        self.catch_up();
        senders
    }
}

#[test]
fn a_delivery_beyond_the_budget_is_told_to_come_again_and_is_let_in_when_others_leave() {
    on_each_server(|crowd| {
        let what = (crowd.server.framework, crowd.style);
        let mut senders = crowd.fill();
        let mut refused = crowd.send(&delivery().wire(&crowd.path));
        let answer = refused.response().expect("there is an answer");
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("10")), "{what:?}");
        assert_eq!(answer.header("connection"), Some("close"), "{what:?}");
        let job_id = Some("job_1".into());
        let told = match crowd.style {
            Style::Receive | Style::Require | Style::LayerRequire => {
                vec![Entry::Refused { job_id }]
            }
            Style::Extract | Style::Layer => vec![],
        };
        assert_eq!(crowd.server.ledger.take(), told, "{what:?}");

        senders.pop();
        crowd.catch_up();
        assert!(crowd.status() < 300, "{what:?}: the sender that left is still counted");
        senders[0].send([b' '; SMALL - 80]);
        assert_eq!(senders[0].response().map(|answer| answer.status), Ok(400), "{what:?}");
        assert!(crowd.status() < 300, "{what:?}: the body that ended is still counted");
    });
}

#[test]
fn bodies_that_are_declared_and_do_not_come_use_none_of_the_budget() {
    on_each_server(|crowd| {
        let unsent = delivery().unsent(SMALL as u64).wire(&crowd.path);
        let senders: Vec<_> = (0..=BUDGET / SMALL).map(|_| crowd.send(&unsent)).collect();
        crowd.catch_up();
        assert!(crowd.status() < 300, "{:?}, {:?}", crowd.server.framework, crowd.style);
        drop(senders);
    });
}

#[test]
fn deliveries_that_were_let_in_use_none_of_the_budget() {
    on_each_server(|crowd| {
        for _ in 0..=BUDGET / ARTICLE.len() {
            assert!(crowd.status() < 300, "{:?}, {:?}", crowd.server.framework, crowd.style);
        }
    });
}
