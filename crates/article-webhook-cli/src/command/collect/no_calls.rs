use std::time::Duration;

use article_webhook_client::{Created, Error, JobId, NewArticle, Response};
use article_webhook_collector::{Api, Calling};

/// An API for a dry run, which needs no key. It is never called.
pub(super) struct NoCalls;

impl Api for NoCalls {
    fn create<'a>(&'a self, _: &'a NewArticle) -> Calling<'a, Created> {
        Box::pin(async { Err(Error::unreachable("a dry run makes no calls")) })
    }

    fn poll<'a>(&'a self, _: &'a JobId) -> Calling<'a, Response> {
        Box::pin(async { Err(Error::unreachable("a dry run makes no calls")) })
    }

    fn timeout(&self) -> Duration {
        Duration::ZERO
    }

    fn key_fingerprint(&self) -> u64 {
        0
    }
}
