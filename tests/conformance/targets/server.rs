use std::{net::SocketAddr, time::Duration};

use article_webhook::Receiver;

use crate::{
    answers::{Answer, STORED},
    application::Application,
    call_log::{Accepted, Entry, Ledger},
    connection::{CLIENT_TIMEOUT, Connection, Response, Silence},
    exchange::{Exchange, Fate, Heard},
    request::{Request, delivery_of},
    row::{Outcome, Promise, Row},
    run::Target,
    site::{Site, Style},
};

/// A server on a socket of its own, which lives until the process ends.
pub(crate) struct Server {
    pub(crate) framework: Framework,
    pub(crate) address: SocketAddr,
    pub(crate) ledger: Ledger,
    pub(crate) timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framework {
    Axum,
    ActixWeb,
    /// A tower service on our own server, which stands on hyper as axum does.
    Tower,
}

/// One receiver and its application, to be mounted in both styles.
#[derive(Clone)]
pub(crate) struct Mount {
    pub(crate) site: Site,
    pub(crate) receiver: Receiver,
    pub(crate) application: Application,
}

impl Mount {
    pub(crate) fn all(ledger: &Ledger) -> Vec<Self> {
        Site::ALL.map(|site| Self::of(site, ledger)).into()
    }

    pub(crate) fn of(site: Site, ledger: &Ledger) -> Self {
        Self { site, receiver: site.receiver(), application: site.application(ledger) }
    }
}

impl Framework {
    pub(crate) const ALL: [Self; 3] = [Self::Axum, Self::ActixWeb, Self::Tower];

    /// How an application can mount the receiver.
    pub(crate) fn styles(self) -> [Style; 3] {
        match self {
            Self::Axum | Self::ActixWeb => [Style::Receive, Style::Extract, Style::Layer],
            Self::Tower => [Style::Receive, Style::Require, Style::LayerRequire],
        }
    }

    /// A server with every site.
    pub(crate) fn serve_all(self) -> Server {
        let ledger = Ledger::default();
        self.serve(Mount::all(&ledger), ledger)
    }

    pub(crate) fn serve(self, mounts: Vec<Mount>, ledger: Ledger) -> Server {
        let address = match self {
            Self::Axum => super::axum::serve(super::axum::router(&mounts)),
            Self::ActixWeb => super::actix_web::serve(mounts),
            Self::Tower => super::tower::serve(mounts),
        };
        Server { framework: self, address, ledger, timeout: CLIENT_TIMEOUT }
    }
}

impl Server {
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address, self.timeout)
    }

    /// Whether a good delivery on this connection is stored, as the next that the application sees.
    pub(crate) fn stores_on(&self, connection: &mut Connection) -> bool {
        let article =
            r#"{"job_id":"job_next","status":"complete","article":{"title":"","html":""}}"#;
        let next = delivery_of(article).with("X-Service-Job-Id", "job_next");
        connection.send(next.wire(&Site::Default.path(Style::Receive)));
        let answer = connection.answer_to("POST");
        let stored = Entry::Accepted(Accepted {
            job_id: "job_next".into(),
            event: "article.complete".into(),
            target: "default".into(),
            intent: None,
            body: next.body,
        });
        let is_stored =
            |answer: Response| (answer.status, answer.body) == (200, STORED.body.into());
        answer.is_ok_and(is_stored) && self.ledger.take() == [stored]
    }

    /// Sends one request and waits for its answer.
    fn ask(&self, style: Style, site: Site, request: &Request) -> (Exchange, String) {
        let mut connection = self.connect();
        connection.send(request.wire(&site.path(style)));
        if request.ends_early() {
            connection.finish_sending();
        }
        let answer = connection.answer_to(&request.method);
        let wire = answer.clone().map(|answer| answer.timeless);
        let ledger = self.ledger.take();
        let connection = self.fate(&answer, connection);
        let answer = answer.map(Heard::from);
        let exchange = Exchange { answer, connection, ledger };
        (exchange, wire.unwrap_or_default())
    }

    fn fate(&self, answer: &Result<Response, Silence>, mut connection: Connection) -> Fate {
        match answer {
            Ok(answer) if answer.header("connection") == Some("close") => {
                // As a client that got `Connection: close`. That the server closes by itself as well, a second
                // later in actix-web, is held against it in `draining`.
                connection.finish_sending();
                if connection.is_closed() { Fate::Closed } else { Fate::LeftOpen }
            }
            Err(Silence::Late) => Fate::LeftOpen,
            _ if self.stores_on(&mut connection) => Fate::Usable,
            _ => Fate::ClosedSilently,
        }
    }
}

impl Target for Server {
    fn name(&self) -> &'static str {
        match self.framework {
            Framework::Axum => "axum",
            Framework::ActixWeb => "actix-web",
            Framework::Tower => "tower",
        }
    }

    fn handled(&self) -> Answer {
        Answer {
            status: match self.framework {
                Framework::Axum | Framework::Tower => 200,
                Framework::ActixWeb => 204,
            },
            headers: &[],
            body: "",
        }
    }

    fn styles(&self) -> Vec<Style> {
        self.framework.styles().into()
    }

    fn owes(&self, promise: Promise) -> Option<Outcome> {
        match (promise, self.framework) {
            (Promise::Everywhere(outcome), _) => Some(outcome),
            (Promise::Framework { axum, .. }, Framework::Axum) => Some(axum),
            (Promise::Framework { actix_web, .. }, Framework::ActixWeb) => Some(actix_web),
            (Promise::Framework { .. }, Framework::Tower) | (Promise::Nothing, _) => None,
        }
    }

    fn exchange(&self, style: Style, row: &Row) -> (Exchange, String) {
        self.ask(style, row.site, &row.request)
    }
}
