//! The guide: topics that concern more than one crate of this workspace.
//!
//! | page | read it |
//! |---|---|
//! | [`start`] | to receive your first article |
//! | [`comparison`] | to choose between these crates and their alternatives |
//! | [`platforms`] | to see which systems are supported |
//! | [`application`] | to receive articles in an existing application |
//! | [`sink`] | to store deliveries in a table of your own |
//! | [`compile`] | when the compiler refuses a handler or a route |
//! | [`flow`] | to see how a delivery is checked, and how the service reacts to each status |
//! | [`testing`] | to test your own handler |
//! | [`production`] | before your receiver is reachable from the internet |
//! | [`deploy`] | to run it under systemd, in a container or in Kubernetes |
//! | [`damage`] | when the file of an inbox is damaged, was moved, or must be restored |
//! | [`proxies`] | to put nginx, HAProxy or Caddy in front of it |
//! | [`missing`] | when an article did not arrive |
//! | [`machines`] | to receive on several machines |
//! | [`postgres`] | to keep one inbox for all machines in PostgreSQL |
//! | [`postgres_operations`] | to operate that database: health checks, poolers, alarms |
//! | [`postgres_restore`] | to back up that database, and to restore it |
//! | [`service`] | to look up what the service does, section by section |
//! | [`invariants`] | to look up the properties that always hold |
//! | [`support`] | before an upgrade, or to get help |
//! | [`glossary`] | to look up a term |
//!
//! The modules contain only these pages, and no items. The page of the adapter for your framework has a first receiver:
//! [axum](https://docs.rs/article-webhook-axum/latest/article_webhook_axum/),
//! [actix-web](https://docs.rs/article-webhook-actix-web/latest/article_webhook_actix_web/) or
//! [tower](https://docs.rs/article-webhook-tower/latest/article_webhook_tower/).

// Its examples need the adapters, which need this crate: the tests of the workspace compile them.
#[cfg_attr(not(doctest), doc = include_str!("guide/application.md"))]
pub mod application {}

#[doc = include_str!("guide/comparison.md")]
pub mod comparison {}

// As for `application`.
#[cfg_attr(not(doctest), doc = include_str!("guide/compile.md"))]
pub mod compile {}

#[doc = include_str!("guide/damage.md")]
pub mod damage {}

// As for `application`.
#[cfg_attr(not(doctest), doc = include_str!("guide/deploy.md"))]
pub mod deploy {}

#[doc = include_str!("guide/flow.md")]
pub mod flow {}

#[doc = include_str!("guide/glossary.md")]
pub mod glossary {}

#[doc = include_str!("guide/invariants.md")]
pub mod invariants {}

// As for `application`.
#[cfg_attr(not(doctest), doc = include_str!("guide/machines.md"))]
pub mod machines {}

#[doc = include_str!("guide/missing.md")]
pub mod missing {}

#[doc = include_str!("guide/platforms.md")]
pub mod platforms {}

#[doc = include_str!("guide/postgres.md")]
pub mod postgres {}

#[doc = include_str!("guide/postgres_operations.md")]
pub mod postgres_operations {}

#[doc = include_str!("guide/postgres_restore.md")]
pub mod postgres_restore {}

#[doc = include_str!("guide/production.md")]
pub mod production {}

#[doc = include_str!("guide/proxies.md")]
pub mod proxies {}

#[doc = include_str!("guide/service.md")]
pub mod service {}

#[doc = include_str!("guide/sink.md")]
pub mod sink {}

#[doc = include_str!("guide/start.md")]
pub mod start {}

#[doc = include_str!("guide/support.md")]
pub mod support {}

// Its examples use the fixtures, and the collector: `tests/lib.rs` runs them.
#[cfg_attr(all(feature = "fixture", not(doctest)), doc = include_str!("guide/testing.md"))]
#[cfg_attr(
    not(feature = "fixture"),
    doc = "How to test your own handler: document this crate with the feature `fixture` to read this page."
)]
pub mod testing {}
