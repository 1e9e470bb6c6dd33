use serde_json::{Map, Value};

use super::fields::{invalid, present, required, text};
use crate::{Step, Target, jobs::BYTES_PER_WORD, response::ApiError};

/// The order of a client. The document defines `topic` and `webhook_url`; the other fields are the
/// simulator's.
#[derive(Debug, PartialEq)]
pub(crate) struct Order {
    pub(crate) topic: String,
    pub(crate) webhook: Option<Target>,
    pub(crate) brand_id: Option<String>,
    /// About how many bytes of HTML the article is to have.
    pub(crate) html_bytes: Option<usize>,
    pub(crate) wants_analytics: bool,
    pub(crate) plan_feature: Option<String>,
    /// The step at which the pipeline is to fail.
    pub(crate) fail_at: Option<Step>,
}

impl Order {
    pub(crate) fn read(body: &Map<String, Value>) -> Result<Self, ApiError> {
        let topic = required(body, "topic", "a string that is not blank")?;
        let expected = "an http or https URL";
        let webhook = text(body, "webhook_url", expected)?.map(|url| Target::per_request(&url));
        let webhook = webhook.transpose().map_err(|_| invalid("webhook_url", expected))?;
        let number = |field, range: std::ops::RangeInclusive<u64>, expected| {
            let Some(value) = present(body, field) else { return Ok(None) };
            let number = value.as_u64().filter(|number| range.contains(number));
            let number = number.and_then(|number| usize::try_from(number).ok());
            number.map(Some).ok_or(invalid(field, expected))
        };
        let words = number("words", 500..=3000, "an integer from 500 to 3000")?;
        let bytes = number("bytes", 1..=64 << 20, "an integer from 1 to 67108864")?;
        let fail_at = present(body, "fail_at").map(|step| {
            let step = serde_json::from_value(step.clone());
            step.map_err(|_| invalid("fail_at", "outline, research, draft, edit, image or social"))
        });
        let analytics = present(body, "analytics")
            .map(|value| value.as_bool().ok_or(invalid("analytics", "true or false")));
        Ok(Self {
            topic,
            webhook,
            brand_id: text(body, "brand_id", "a string")?,
            html_bytes: bytes.or(words.map(|words| words * BYTES_PER_WORD)),
            wants_analytics: analytics.transpose()?.unwrap_or_default(),
            plan_feature: text(body, "plan_feature", "a string")?,
            fail_at: fail_at.transpose()?,
        })
    }
}
