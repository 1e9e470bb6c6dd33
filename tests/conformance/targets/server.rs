use std::net::SocketAddr;

use article_webhook::Receiver;
use article_webhook_tests::serve;

use crate::{
    answers::{Answer, STORED},
    application::Application,
    call_log::{Accepted, Entry, Ledger},
    connection::{Connection, Response, Silence},
    exchange::{Exchange, Fate, heard},
    request::delivery,
    row::Row,
    site::{Site, Style},
};

/// A server on a socket of its own, which lives until the process ends.
pub(crate) struct Server {
    pub(crate) framework: Framework,
    pub(crate) address: SocketAddr,
    pub(crate) ledger: Ledger,
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
            Self::Axum => serve::axum(super::axum::router(&mounts)),
            Self::ActixWeb => serve::actix_web(super::actix_web::mounting(mounts)),
            Self::Tower => super::tower::serve(mounts),
        };
        Server { framework: self, address, ledger }
    }

    /// How the handler's `Ok(())` goes out.
    pub(crate) fn handled(self) -> Answer {
        let status = if self == Self::ActixWeb { 204 } else { 200 };
        Answer { status, headers: &[], body: "" }
    }
}

impl Server {
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// Whether a good delivery on this connection is stored, as the next that the application sees.
    pub(crate) fn stores_on(&self, connection: &mut Connection) -> bool {
        let article =
            r#"{"job_id":"job_next","status":"complete","article":{"title":"","html":""}}"#;
        let next = delivery().body(article).with("X-Service-Job-Id", "job_next");
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

    /// Sends the request of a row, and also says what went over the wire, without the date.
    pub(crate) fn exchange(&self, style: Style, row: &Row) -> (Exchange, String) {
        let request = &row.request;
        let mut connection = self.connect();
        connection.send(request.wire(&row.site.path(style)));
        if request.ends_early() {
            connection.finish_sending();
        }
        let answer = connection.answer_to(&request.method);
        let ledger = self.ledger.take();
        let connection = self.fate(&answer, connection);
        let (answer, wire) = match answer {
            Ok(response) => (Ok(heard(&response)), response.timeless),
            Err(silence) => (Err(silence), String::new()),
        };
        (Exchange { answer, connection, ledger }, wire)
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
