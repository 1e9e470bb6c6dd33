use article_webhook::adapter;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outcome::CallOutcome;

/// The part of a response that says which job it is about and how far the job is. Both stay unread: as values, they
/// could take many times the memory of the response.
#[derive(Deserialize)]
pub(crate) struct Outline<'a> {
    #[serde(borrow)]
    job_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

impl<'a> Outline<'a> {
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, CallOutcome> {
        match body.trim_ascii_start().first() {
            Some(b'{') => serde_json::from_slice(body).map_err(|_| CallOutcome::NotJson),
            Some(b'<') => Err(CallOutcome::Page),
            // serde would accept an array for a struct.
            _ => Err(CallOutcome::NotJson),
        }
    }

    /// The same, as the receiver reads a delivery: what is not JSON is repaired if it can be.
    pub(super) fn read_repaired(
        body: &'a [u8],
        repaired: &'a mut Option<Vec<u8>>,
    ) -> Result<Self, CallOutcome> {
        match Self::read(body) {
            Err(CallOutcome::NotJson) => match adapter::repair(body) {
                Some(copy) => Self::read(repaired.insert(copy)),
                None => Err(CallOutcome::NotJson),
            },
            read => read,
        }
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
}
