//! The adapters decide nothing: the same bytes get the same answer through each, and the
//! application behind each is asked to do the same.

mod actix_web;
mod application;
mod axum;
mod message;
mod tower;

use ::actix_web::rt::Runtime;
use ::axum::Router;

use super::request::Request;
use application::Ledger;
use message::{Exchange, Message, Style};

/// What is mounted: every adapter, each with an application of its own.
pub struct Subject {
    runtime: Runtime,
    axum: axum::Adapter,
    actix_web: actix_web::Adapter,
    tower: tower::Adapter,
}

impl Subject {
    /// The adapters as they are, but for what `fault` changes about axum's.
    ///
    /// # Panics
    ///
    /// If there are no threads.
    #[must_use]
    pub fn behind(fault: fn(Router) -> Router) -> Self {
        // actix-web asks for a runtime of its own kind, in which the others run as well.
        let runtime = Runtime::new().expect("there are threads");
        Self {
            axum: axum::Adapter::behind(fault),
            actix_web: runtime.block_on(actix_web::Adapter::new()),
            tower: tower::Adapter::default(),
            runtime,
        }
    }

    fn exchanges(&self, style: Style, message: &Message) -> Vec<(&'static str, Exchange)> {
        self.runtime.block_on(async {
            let axum = self.axum.exchange(style, message).await;
            let actix_web = self.actix_web.exchange(style, message).await;
            let mut exchanges = vec![("axum", axum), ("actix-web", actix_web)];
            // It has no extractor.
            if style == Style::Receive {
                exchanges.push(("tower", self.tower.exchange(message).await));
            }
            exchanges
        })
    }
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}

/// Holds the adapters to one answer.
///
/// # Panics
///
/// If the property is broken.
pub fn check(data: &[u8]) {
    // Leaked, because actix-web keeps pools in the thread, which are gone when the thread drops this.
    thread_local!(static SUBJECT: &'static Subject =
        Box::leak(Box::new(Subject::behind(|right| right))));
    SUBJECT.with(|subject| hold(data, subject));
}

/// Holds what is mounted to one answer.
///
/// # Panics
///
/// If the property is broken.
pub fn hold(data: &[u8], subject: &Subject) {
    let message = Message::from(&Request::parse(data));
    for style in [Style::Receive, Style::Extract] {
        let exchanges = subject.exchanges(style, &message);
        let (measure, measured) = &exchanges[0];
        for (name, exchange) in &exchanges[1..] {
            assert_eq!(exchange, measured, "{name} is not {measure}, {style:?}");
        }
    }
}
