use crate::{
    answers::{Answer, STORED},
    call_log::{Accepted, Entry},
    request::Request,
    site::{Site, Style},
};

/// A situation, and what each style of mounting owes the sender and the application in it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) situation: &'static str,
    pub(crate) site: Site,
    pub(crate) request: Request,
    pub(crate) receive: Promise,
    pub(crate) extract: Promise,
    /// With the adapter's layer around the handler; as without if it is not given.
    pub(crate) layer: Option<Promise>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Promise {
    /// The same, whatever the framework.
    Everywhere(Outcome),
    /// Decided by the framework before anything of ours runs.
    Framework { axum: Outcome, actix_web: Outcome },
    /// The style is not meant for the situation.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) reply: Reply,
    /// The connection is closed, and the answer says so; else the next request can use it.
    pub(crate) closes: bool,
    /// What the application was asked to do.
    pub(crate) ledger: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Answer(Answer),
    /// The handler's `Ok(())`, as the framework writes it.
    Handled,
    /// No answer: the connection is cut.
    Cut,
}

/// What is reported to the sink about a refusal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Report {
    Nothing,
    /// There was an authentic delivery, of a job that could not be read or trusted.
    NoJob,
    Job(&'static str),
}

use Report::{Job, NoJob};

/// What a sink is given of a request.
fn accepted(request: &Request) -> Accepted {
    Accepted {
        job_id: "job_1".into(),
        event: "article.complete".into(),
        target: "default".into(),
        intent: None,
        body: request.body.clone(),
    }
}

/// The delivery is accepted: the sink stores it, the handler runs.
pub(crate) fn let_in(situation: &'static str, request: Request) -> Row {
    let accepted = accepted(&request);
    let job_id = "job_1".into();
    let receive = Outcome::of(STORED).and(Entry::Accepted(accepted));
    let extract = Outcome::of(Reply::Handled).and(Entry::Handled { job_id });
    Row {
        situation,
        site: Site::Default,
        request,
        receive: Promise::Everywhere(receive),
        extract: Promise::Everywhere(extract),
        layer: None,
    }
}

/// The delivery is accepted by a sink, and the handler's style answers without running the handler.
pub(crate) fn for_sinks(situation: &'static str, request: Request, extract: Answer) -> Row {
    let extract = Promise::Everywhere(Outcome::of(extract));
    Row { extract, ..let_in(situation, request) }
}

/// The request is refused in both styles.
pub(crate) fn refused(
    situation: &'static str,
    request: Request,
    answer: Answer,
    report: Report,
) -> Row {
    let entry = match report {
        Report::Nothing => None,
        NoJob => Some(None),
        Job(job_id) => Some(Some(job_id.to_owned())),
    };
    let entry = entry.map(|job_id| Entry::Refused { job_id });
    let ledger = entry.into_iter().collect();
    let receive = Outcome { ledger, ..Outcome::of(answer) };
    Row { receive: Promise::Everywhere(receive), ..for_sinks(situation, request, answer) }
}

/// The request is refused in both styles, and the sink is given its body as that of `job_1`.
pub(crate) fn kept(
    situation: &'static str,
    request: Request,
    answer: Answer,
    report: Report,
) -> Row {
    let body = accepted(&request);
    let mut row = refused(situation, request, answer, report);
    if let Promise::Everywhere(outcome) = &mut row.receive {
        for entry in &mut outcome.ledger {
            if let Entry::Refused { job_id } = entry {
                *entry = Entry::Kept { job_id: job_id.take(), body: body.clone() };
            }
        }
    }
    row
}

impl Row {
    pub(crate) fn promise(&self, style: Style) -> Promise {
        match style {
            Style::Receive => self.receive.clone(),
            Style::Extract => self.extract.clone(),
            Style::Layer => self.layer.clone().unwrap_or_else(|| self.extract.clone()),
            Style::Require => self.require(),
            Style::LayerRequire => self.layer_require(),
        }
    }

    /// As for a sink. What the inner service does with a delivery is its own affair.
    fn require(&self) -> Promise {
        match self.site {
            Site::Capability | Site::Panics | Site::PanicsAtOnce | Site::Late => Promise::Nothing,
            _ => self.receive.clone(),
        }
    }

    /// As for a sink, whose deadline and panics the layer looks after as well.
    fn layer_require(&self) -> Promise {
        match self.site {
            Site::Capability => Promise::Nothing,
            _ => self.receive.clone(),
        }
    }

    pub(crate) fn at(self, site: Site) -> Self {
        Self { site, ..self }
    }

    pub(crate) fn extract(self, extract: Promise) -> Self {
        Self { extract, ..self }
    }

    pub(crate) fn layer(self, layer: Promise) -> Self {
        Self { layer: Some(layer), ..self }
    }

    /// Both answers close the connection.
    pub(crate) fn closing(self) -> Self {
        self.change(|outcome| outcome.closes = true)
    }

    /// The sink replies so that this is the answer.
    pub(crate) fn replied(mut self, answer: Answer) -> Self {
        if let Promise::Everywhere(outcome) = &mut self.receive {
            outcome.reply = Reply::Answer(answer);
        }
        self
    }

    /// The application sees this job.
    pub(crate) fn job(self, expected: &str) -> Self {
        self.change(|outcome| {
            for entry in &mut outcome.ledger {
                match entry {
                    Entry::Accepted(Accepted { job_id, .. })
                    | Entry::Kept { body: Accepted { job_id, .. }, .. }
                    | Entry::Handled { job_id } => *job_id = expected.to_owned(),
                    Entry::Finished | Entry::Refused { .. } => {}
                }
            }
        })
    }

    /// The sink sees this event.
    pub(crate) fn event(self, event: &str) -> Self {
        self.accepted(|accepted| accepted.event = event.to_owned())
    }

    /// The sink sees this publish target.
    pub(crate) fn target(self, target: &str) -> Self {
        self.accepted(|accepted| accepted.target = target.to_owned())
    }

    /// The sink sees the intent of a capability.
    pub(crate) fn intent(self, intent: &str) -> Self {
        self.accepted(|accepted| accepted.intent = Some(intent.to_owned()))
    }

    fn accepted(self, change: impl Fn(&mut Accepted)) -> Self {
        self.change(|outcome| {
            for entry in &mut outcome.ledger {
                if let Entry::Accepted(accepted) | Entry::Kept { body: accepted, .. } = entry {
                    change(accepted);
                }
            }
        })
    }

    fn change(mut self, change: impl Fn(&mut Outcome)) -> Self {
        for promise in [&mut self.receive, &mut self.extract].into_iter().chain(&mut self.layer) {
            if let Promise::Everywhere(outcome) = promise {
                change(outcome);
            }
        }
        self
    }
}

impl Outcome {
    pub(crate) fn of(reply: impl Into<Reply>) -> Self {
        Self { reply: reply.into(), closes: false, ledger: Vec::new() }
    }

    pub(crate) fn and(mut self, entry: Entry) -> Self {
        self.ledger.push(entry);
        self
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}
