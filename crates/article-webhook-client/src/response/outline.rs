use std::borrow::Cow;

use article_webhook::{Status, adapter};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{code::ErrorCode, outcome::CallOutcome};

/// The part of a response that says which job it is about and how far the job is. All stays unread: as values, it
/// could take many times the memory of the response.
#[derive(Deserialize)]
pub(crate) struct Outline<'a> {
    #[serde(borrow)]
    job_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(skip)]
    rest: Rest<'a>,
}

/// What is missing if it cannot be read: then there is neither an article nor a failure.
#[derive(Default, Deserialize)]
struct Rest<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    article: Option<&'a RawValue>,
}

impl<'a> Outline<'a> {
    fn read(body: &'a [u8]) -> Result<Self, CallOutcome> {
        match body.trim_ascii_start().first() {
            Some(b'{') => {
                let outline: Self =
                    serde_json::from_slice(body).map_err(|_| CallOutcome::NotJson)?;
                Ok(Self { rest: serde_json::from_slice(body).unwrap_or_default(), ..outline })
            }
            Some(b'<') => Err(CallOutcome::Page),
            // serde would accept an array for a struct.
            _ => Err(CallOutcome::NotJson),
        }
    }

    /// The same, as the receiver reads a delivery: what is not JSON is repaired if it can be.
    pub(crate) fn read_repaired(
        body: &'a [u8],
        repaired: &'a mut Option<Vec<u8>>,
    ) -> Result<Self, CallOutcome> {
        *repaired = adapter::repair(body);
        Self::read(repaired.as_deref().unwrap_or(body))
    }

    pub(crate) fn job_id(&self) -> Option<String> {
        serde_json::from_str(self.job_id?.get()).ok()
    }

    pub(super) fn names_a_job(&self) -> bool {
        self.job_id.is_some()
    }

    pub(super) fn status(&self) -> Option<String> {
        serde_json::from_str(self.status?.get()).ok()
    }

    /// Whether there is an article with a title and HTML.
    pub(super) fn has_article(&self) -> bool {
        #[derive(Deserialize)]
        struct Texts<'a> {
            #[serde(borrow, rename = "title")]
            _title: Cow<'a, str>,
            #[serde(borrow, rename = "html")]
            _html: Cow<'a, str>,
        }

        self.rest.article.is_some_and(|raw| serde_json::from_str::<Texts<'_>>(raw.get()).is_ok())
    }

    /// The word by which it says that its job has failed: a status, or a documented error code that is about a job and not
    /// about the call or its key. That of a failed pipeline counts without a job id, as in its documented form.
    pub(super) fn failure(&self) -> Option<String> {
        let error: Option<String> =
            self.rest.error.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let code = error.as_deref().map(ErrorCode::from);
        if code == Some(ErrorCode::GenerationFailed) {
            return error;
        }
        let is_failure = code.is_some_and(|code| {
            use ErrorCode::{
                CreditsExhausted, Ga4NotConnected, InvalidRequest, NotConfigured, PlanRequired,
            };
            matches!(
                code,
                CreditsExhausted | NotConfigured | Ga4NotConnected | InvalidRequest | PlanRequired
            )
        });
        let status = || self.status().filter(|status| Status::from(&**status).is_failed());
        self.job_id.and_then(|_| error.filter(|_| is_failure).or_else(status))
    }
}
