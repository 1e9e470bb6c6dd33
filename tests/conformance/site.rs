use std::{sync::Arc, time::Duration};

use article_webhook::{AuthToken, CapabilityKey, Receiver, Reply, Targets};
use tokio::sync::Notify;

use crate::{
    application::{Application, Work},
    call_log::Ledger,
    request::TOKEN,
};

/// Where a row is sent: a receiver with its settings, and the application behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Default,
    /// A token per publish target.
    TwoTargets,
    /// A token that has no scheme word.
    NoScheme,
    /// The longest token there can be.
    LongToken,
    Strict,
    /// Other names for the service's headers.
    OwnNames,
    RefusesUnknownEvents,
    /// At most [`SMALL`] bytes of body.
    Small,
    /// At most [`SMALL`] bytes of body, by a layer that is not the receiver's.
    SmallLayer,
    /// At most [`BUDGET`] bytes of unfinished bodies.
    SmallBudget,
    /// A body has [`DEADLINE`] to arrive.
    Hasty,
    /// A capability URL instead of a token.
    Capability,
    Duplicate,
    Ignored,
    Retry,
    Unavailable,
    Panics,
    PanicsAtOnce,
    PanicsAtRefusals,
    Late,
    /// A layer around the handler gives up requests, which are not in the table.
    GivesUp,
}

pub(crate) const SMALL: usize = 120;

pub(crate) const BUDGET: usize = 300;

pub(crate) const DEADLINE: Duration = Duration::from_millis(200);

pub(crate) const GIVES_UP_AFTER: Duration = Duration::from_millis(50);

pub(crate) const BLOG: &str = "Bearer blog-91d2c4f07ab3e5";

pub(crate) const SHOP: &str = "Bearer shop-c07e4b1fd2a896";

pub(crate) const NO_SCHEME: &str = "conformance-5f2b9c0e7a1d";

pub(crate) fn long_token() -> String {
    ["Bearer ", &"x".repeat(4089)].concat()
}

/// How an application mounts the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A sink, on every method.
    Receive,
    /// `ArticleComplete`, on POST.
    Extract,
    /// `ArticleComplete`, with the adapter's layer around the handler.
    Layer,
    /// A layer around a service that asks the sink itself.
    Require,
    /// The same in the layer that runs a service to its end.
    LayerRequire,
}

impl Site {
    pub(crate) const ALL: [Self; 20] = [
        Self::Default,
        Self::TwoTargets,
        Self::NoScheme,
        Self::LongToken,
        Self::Strict,
        Self::OwnNames,
        Self::RefusesUnknownEvents,
        Self::Small,
        Self::SmallLayer,
        Self::SmallBudget,
        Self::Hasty,
        Self::Capability,
        Self::Duplicate,
        Self::Ignored,
        Self::Retry,
        Self::Unavailable,
        Self::Panics,
        Self::PanicsAtOnce,
        Self::PanicsAtRefusals,
        Self::Late,
    ];

    pub(crate) fn path(self, style: Style) -> String {
        format!("/{self:?}/{style:?}")
    }

    pub(crate) fn receiver(self) -> Receiver {
        let token = |token: &str| AuthToken::new(token).expect("the token is a legal one");
        let builder = match self {
            Self::TwoTargets => Receiver::builder(
                Targets::new("blog", token(BLOG))
                    .and_then(|targets| targets.and("shop", token(SHOP)))
                    .expect("the tokens differ"),
            ),
            Self::NoScheme => Receiver::builder(token(NO_SCHEME)),
            Self::LongToken => Receiver::builder(token(&long_token())),
            _ => Receiver::builder(token(TOKEN)),
        };
        let builder = match self {
            Self::Strict => builder.strict(),
            Self::OwnNames => builder.event_header("Acme-Event").job_id_header("Acme-Job"),
            Self::RefusesUnknownEvents => builder.refuse_unknown_events(),
            Self::Small => builder.body_limit(SMALL),
            Self::SmallBudget => builder.body_limit(SMALL).body_budget(BUDGET),
            Self::Hasty => builder.body_deadline(DEADLINE),
            Self::Late => builder.answer_deadline(Duration::from_millis(50)),
            _ => builder,
        };
        // Rows send the same delivery. `wire::runs` is about what is remembered.
        let builder = builder.remember_for(Duration::ZERO);
        builder.build().expect("the settings are legal ones")
    }

    pub(crate) fn application(self, ledger: &Ledger) -> Application {
        let work = match self {
            Self::Duplicate => Work::Replies(Reply::Duplicate),
            Self::Ignored => Work::Replies(Reply::Ignored),
            Self::Retry => Work::Replies(Reply::Retry),
            Self::Unavailable => Work::Replies(Reply::Unavailable),
            Self::Panics => Work::Panics,
            Self::PanicsAtOnce => Work::PanicsAtOnce,
            Self::PanicsAtRefusals => Work::PanicsAtRefusals,
            // It is never notified.
            Self::Late => Work::Waits(Arc::new(Notify::new()), Reply::Stored),
            _ => Work::Replies(Reply::Stored),
        };
        Application::new(ledger, work)
    }
}

/// The key of [`Site::Capability`], which also accepts the one before it.
pub(crate) fn capability_key() -> CapabilityKey {
    let key = |key: &[u8]| CapabilityKey::new(key).expect("the key is long enough");
    let old = key(b"capability-key-before-the-last-one");
    key(b"capability-key-of-the-conformance").also_accepting(old)
}
