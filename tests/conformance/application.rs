use std::{panic::resume_unwind, sync::Arc};

use article_webhook::{ArticleResult, Delivery, Refused, Reply, Sink};
use tokio::sync::Notify;

use crate::call_log::{Accepted, Entry, Ledger};

/// The application behind a receiver, as a sink and as a handler. It writes down what it is asked to do.
#[derive(Debug, Clone)]
pub(crate) struct Application {
    ledger: Ledger,
    work: Work,
}

/// What the application does with a delivery.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Replies(Reply),
    Panics,
    /// Panics before it has made the future to wait for.
    PanicsAtOnce,
    /// Panics when it gets a refusal, and else stores.
    PanicsAtRefusals,
    /// Replies once it is notified.
    Waits(Arc<Notify>, Reply),
}

impl Application {
    pub(crate) fn new(ledger: &Ledger, work: Work) -> Self {
        let ledger = ledger.clone();
        Self { ledger, work }
    }

    /// The handler of the extractor style. Its error is a reason to come again.
    pub(crate) async fn handle(self, result: ArticleResult) -> Result<(), &'static str> {
        let job_id = result.job_id.to_string();
        self.ledger.write(Entry::Handled { job_id });
        match self.finish().await {
            Reply::Retry | Reply::Unavailable => Err("the store is down"),
            _ => Ok(()),
        }
    }
}

impl Application {
    /// A refusal, with its body if there is one.
    pub(crate) fn given(&self, refused: &Refused) {
        let Some(body) = refused.body() else { return self.refused(refused) };
        let body = Accepted {
            job_id: body.job_id().to_string(),
            event: body.event().to_string(),
            target: body.target().to_owned(),
            intent: refused.intent().map(str::to_owned),
            body: body.bytes().clone(),
        };
        let job_id = refused.job_id().map(ToString::to_string);
        self.ledger.write(Entry::Kept { job_id, body });
        if let Work::PanicsAtRefusals = self.work {
            panic_quietly();
        }
    }

    async fn finish(self) -> Reply {
        let reply = self.work.reply().await;
        if let Work::Waits(..) = self.work {
            self.ledger.write(Entry::Finished);
        }
        reply
    }
}

impl Sink for Application {
    fn accept(&self, delivery: Delivery) -> impl Future<Output = Reply> + Send {
        self.ledger.write(Entry::Accepted(Accepted {
            job_id: delivery.job_id().to_string(),
            event: delivery.event().to_string(),
            target: delivery.target().to_owned(),
            intent: delivery.intent().map(str::to_owned),
            body: delivery.body().clone(),
        }));
        if let Work::PanicsAtOnce = self.work {
            panic_quietly();
        }
        self.clone().finish()
    }

    fn refused(&self, refused: &Refused) {
        let job_id = refused.job_id().map(ToString::to_string);
        self.ledger.write(Entry::Refused { job_id });
        if let Work::PanicsAtRefusals = self.work {
            panic_quietly();
        }
    }

    async fn keep_refused(&self, refused: Refused) {
        self.given(&refused);
    }
}

impl Work {
    async fn reply(&self) -> Reply {
        match self {
            Self::Replies(reply) => *reply,
            Self::Panics | Self::PanicsAtOnce => panic_quietly(),
            Self::PanicsAtRefusals => Reply::Stored,
            Self::Waits(notify, reply) => {
                notify.notified().await;
                *reply
            }
        }
    }
}

/// Unwinds as any panic, without a message on the terminal that would look like a failing test.
fn panic_quietly() -> ! {
    resume_unwind(Box::new("the application has a bug"))
}
