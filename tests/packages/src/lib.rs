//! The programs on the front pages of the packages, as an application has them: each page is taken from its package, and
//! its programs see nothing but packages.

#[doc = include_str!("../unpacked/article-webhook/README.md")]
mod article_webhook {}
#[doc = include_str!("../unpacked/article-webhook-actix-web/README.md")]
mod article_webhook_actix_web {}
#[doc = include_str!("../unpacked/article-webhook-axum/README.md")]
mod article_webhook_axum {}
#[doc = include_str!("../unpacked/article-webhook-check/README.md")]
mod article_webhook_check {}
#[doc = include_str!("../unpacked/article-webhook-client/README.md")]
mod article_webhook_client {}
#[doc = include_str!("../unpacked/article-webhook-server/README.md")]
mod article_webhook_server {}
#[doc = include_str!("../unpacked/article-webhook-tower/README.md")]
mod article_webhook_tower {}
