use crate::{
    call_log::Entry,
    connection::Connection,
    request::{ARTICLE, delivery},
    site::{BUDGET, SMALL, Site, Style},
    targets::server::{Framework, Server},
};

/// A server, and a path at which unfinished bodies have a small budget.
struct Scene {
    server: Server,
    style: Style,
    path: String,
}

fn on_each_server(check: impl Fn(&Scene)) {
    for framework in Framework::ALL {
        for style in framework.styles() {
            let path = Site::SmallBudget.path(style);
            check(&Scene { server: framework.serve_all(), style, path });
        }
    }
}

impl Scene {
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
fn a_delivery_beyond_the_budget_is_asked_to_come_again_and_is_let_in_when_others_leave() {
    on_each_server(|scene| {
        let what = (scene.server.framework, scene.style);
        let mut senders = scene.fill();
        let mut refused = scene.send(&delivery().wire(&scene.path));
        let answer = refused.response().expect("there is an answer");
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("10")), "{what:?}");
        assert_eq!(answer.header("connection"), Some("close"), "{what:?}");
        let job_id = Some("job_1".into());
        let expected = match scene.style {
            Style::Receive | Style::Require | Style::LayerRequire => {
                vec![Entry::Refused { job_id }]
            }
            Style::Extract | Style::Layer => vec![],
        };
        assert_eq!(scene.server.ledger.take(), expected, "{what:?}");

        senders.pop();
        scene.catch_up();
        assert!(scene.status() < 300, "{what:?}: the sender that left is still counted");
        senders[0].send([b' '; SMALL - 80]);
        assert_eq!(senders[0].response().map(|answer| answer.status), Ok(400), "{what:?}");
        assert!(scene.status() < 300, "{what:?}: the body that ended is still counted");
    });
}

#[test]
fn bodies_that_are_declared_and_do_not_come_use_none_of_the_budget() {
    on_each_server(|scene| {
        let unsent = delivery().unsent(SMALL as u64).wire(&scene.path);
        let senders: Vec<_> = (0..=BUDGET / SMALL).map(|_| scene.send(&unsent)).collect();
        scene.catch_up();
        assert!(scene.status() < 300, "{:?}, {:?}", scene.server.framework, scene.style);
        drop(senders);
    });
}

#[test]
fn deliveries_that_were_let_in_use_none_of_the_budget() {
    on_each_server(|scene| {
        for _ in 0..=BUDGET / ARTICLE.len() {
            assert!(scene.status() < 300, "{:?}, {:?}", scene.server.framework, scene.style);
        }
    });
}
