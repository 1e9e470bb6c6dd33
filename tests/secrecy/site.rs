use std::{
    future::pending,
    time::{Duration, SystemTime},
};

use article_webhook::{AuthToken, CapabilityKey, Delivery, Receiver, Refused, Reply, Sink};

use crate::{canary::Canaries, situation::bearer};

/// What the application behind a receiver does, and how it is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Stores,
    Repeats,
    Ignores,
    Retries,
    Fails,
    Panics,
    PanicsAtRefusals,
    IsLate,
    Strict,
    Small,
    Capability,
    /// Extractors.
    Article,
    ArticleRefusesEvents,
    ArticleFails,
    ArticlePanics,
    Delivery,
    /// No receiver, in a framework that allows it.
    Forgotten,
}

use Site::{
    Article, ArticleFails, ArticlePanics, ArticleRefusesEvents, Capability, Fails, Forgotten,
    Ignores, IsLate, Panics, PanicsAtRefusals, Repeats, Retries, Small, Stores, Strict,
};

impl Site {
    pub(crate) const SINKS: [Self; 11] = [
        Stores,
        Repeats,
        Ignores,
        Retries,
        Fails,
        Panics,
        PanicsAtRefusals,
        IsLate,
        Strict,
        Small,
        Capability,
    ];

    pub(crate) const EXTRACTORS: [Self; 6] =
        [Article, ArticleRefusesEvents, ArticleFails, ArticlePanics, Self::Delivery, Forgotten];

    pub(crate) fn receiver(self, canaries: &Canaries) -> Receiver {
        let token = AuthToken::new(&bearer(&canaries.token)).expect("it is a legal token");
        let builder = Receiver::builder(token);
        let builder = match self {
            Strict => builder.strict(),
            Small => builder.body_limit(200),
            IsLate => builder.answer_deadline(Duration::from_millis(1)),
            ArticleRefusesEvents => builder.refuse_unknown_events(),
            _ => builder,
        };
        builder.build().expect("the settings are legal ones")
    }

    /// What a capability is minted with, and the last segment of its URL.
    pub(crate) fn capability(canaries: &Canaries) -> (CapabilityKey, String) {
        let key = CapabilityKey::new(canaries.key.as_bytes()).expect("the key is long enough");
        let expires = SystemTime::now() + Duration::from_secs(3600);
        let capability = key.mint("order-17", expires).expect("it is a legal intent");
        let segment = capability.as_str().to_owned();
        (key, segment)
    }
}

/// What the sink says in its panics, and the handler in its errors.
pub(crate) const BUG: &str = "the application has a bug";

impl Sink for Site {
    async fn accept(&self, _: Delivery) -> Reply {
        match self {
            Repeats => Reply::Duplicate,
            Ignores => Reply::Ignored,
            Retries => Reply::Retry,
            Fails => Reply::Unavailable,
            Panics => panic!("{BUG}"),
            IsLate => pending().await,
            _ => Reply::Stored,
        }
    }

    fn refused(&self, _: &Refused) {
        assert!(*self != PanicsAtRefusals, "{BUG}");
    }
}
