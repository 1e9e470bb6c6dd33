use crate::{
    answers::{Answer, ROUTED_AWAY},
    call_log::{Accepted, Entry},
    connection::Silence,
    exchange::{Exchange, Fate, promised},
    request::Request,
    site::{Site, Style},
    targets::server::Framework,
};

/// A situation, and what each style of mounting owes the sender and the application in it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) situation: &'static str,
    pub(crate) site: Site,
    pub(crate) request: Request,
    /// What is answered where a sink is mounted.
    pub(crate) answer: Answer,
    pub(crate) told: Told,
    pub(crate) handler: Handler,
    /// With the adapter's layer around the handler; as without if it is not given.
    pub(crate) layered: Option<Handler>,
    /// The connection is closed, and the answer says so; else the next request can use it.
    pub(crate) closes: bool,
    /// The job, event, publish target and intent that the application sees.
    pub(crate) job: String,
    pub(crate) event: String,
    pub(crate) target: String,
    pub(crate) intent: Option<String>,
}

/// What a sink is told. A refusal is that of a job, unless that could not be read or trusted.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    Nothing,
    Delivery,
    Refusal(Option<String>),
    /// The same, with the body, to keep it.
    RefusedBody(Option<String>),
}

/// What comes of a handler.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handler {
    /// It runs, and returns `Ok(())`.
    Returns,
    /// It runs, and this is the answer.
    Answers(Answer),
    /// It runs, and the connection is cut.
    IsCut,
    /// It does not run.
    IsSpared(Answer),
    /// The framework routes the request elsewhere before anything of ours runs.
    IsNotFound,
    /// It is not meant for the situation.
    NotMeant,
}

impl Row {
    /// What must come of the request, if the style is meant for it.
    pub(crate) fn expected(&self, framework: Framework, style: Style) -> Option<Exchange> {
        let handler = match style {
            Style::Extract => Some(self.handler),
            Style::Layer => Some(self.layered.unwrap_or(self.handler)),
            Style::Receive => None,
            // What the inner service does with a delivery is its own affair, unless the layer looks after it.
            Style::Require | Style::LayerRequire => match self.site {
                Site::Capability => return None,
                Site::Panics | Site::PanicsAtOnce | Site::Late if style == Style::Require => {
                    return None;
                }
                _ => None,
            },
        };
        let mut closes = self.closes;
        let handled = Some(Entry::Handled { job_id: self.job.clone() });
        let (answer, entry) = match handler {
            None => (Ok(self.answer), self.entry()),
            Some(Handler::Returns) => (Ok(framework.handled()), handled),
            Some(Handler::Answers(answer)) => (Ok(answer), handled),
            Some(Handler::IsCut) => (Err(Silence::Closed), handled),
            Some(Handler::IsSpared(answer)) => (Ok(answer), None),
            Some(Handler::IsNotFound) => {
                // actix-web reads nothing of a body that no handler asked for.
                closes = framework == Framework::ActixWeb && !self.request.body.is_empty();
                (Ok(ROUTED_AWAY), None)
            }
            Some(Handler::NotMeant) => return None,
        };
        let connection = match answer {
            Err(_) => Fate::ClosedSilently,
            Ok(_) if closes => Fate::Closed,
            Ok(_) => Fate::Usable,
        };
        let answer = answer.map(|answer| promised(answer, &self.request.method));
        Some(Exchange { answer, connection, ledger: entry.into_iter().collect() })
    }

    fn entry(&self) -> Option<Entry> {
        let given = Accepted {
            job_id: self.job.clone(),
            event: self.event.clone(),
            target: self.target.clone(),
            intent: self.intent.clone(),
            body: self.request.body.clone(),
        };
        match self.told.clone() {
            Told::Nothing => None,
            Told::Delivery => Some(Entry::Accepted(given)),
            Told::Refusal(job_id) => Some(Entry::Refused { job_id }),
            Told::RefusedBody(job_id) => Some(Entry::Kept { job_id, body: given }),
        }
    }
}
