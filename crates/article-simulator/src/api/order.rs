use http::{HeaderMap, header};
use serde_json::{Map, Value};

use crate::{
    Step,
    articles::Length,
    service::{brand::Target, problem::Problem},
};

/// What a client wants written. `topic` and `webhook_url` are the document's, all else is ours.
#[derive(Debug, PartialEq)]
pub(crate) struct Order {
    pub(crate) topic: String,
    pub(crate) webhook: Option<Target>,
    pub(crate) brand_id: Option<String>,
    pub(crate) length: Length,
    pub(crate) wants_analytics: bool,
    pub(crate) plan_feature: Option<String>,
    /// Where the pipeline is to fail, on demand.
    pub(crate) fail_at: Option<Step>,
}

impl Order {
    pub(crate) fn read(body: &Map<String, Value>) -> Result<Self, Problem> {
        let topic = required(body, "topic", "a string that is not blank")?;
        let expected = "an http or https URL";
        let webhook = text(body, "webhook_url", expected)?.map(|url| Target::per_request(&url));
        let webhook = webhook.transpose().map_err(|_| refuse("webhook_url", expected))?;
        let number = |field, range: std::ops::RangeInclusive<u64>, expected| {
            let Some(value) = present(body, field) else { return Ok(None) };
            let number = value.as_u64().filter(|number| range.contains(number));
            let number = number.and_then(|number| usize::try_from(number).ok());
            number.map(Some).ok_or(refuse(field, expected))
        };
        let words = number("words", 500..=3000, "an integer from 500 to 3000")?;
        let bytes = number("bytes", 1..=64 << 20, "an integer from 1 to 67108864")?;
        let fail_at = present(body, "fail_at").map(|step| {
            let step = serde_json::from_value(step.clone());
            step.map_err(|_| refuse("fail_at", "outline, research, draft, edit, image or social"))
        });
        let analytics = present(body, "analytics")
            .map(|value| value.as_bool().ok_or(refuse("analytics", "true or false")));
        Ok(Self {
            topic,
            webhook,
            brand_id: text(body, "brand_id", "a string")?,
            length: match (bytes, words) {
                (Some(bytes), _) => Length::Bytes(bytes),
                (None, Some(words)) => Length::Words(words),
                (None, None) => Length::Drawn,
            },
            wants_analytics: analytics.transpose()?.unwrap_or_default(),
            plan_feature: text(body, "plan_feature", "a string")?,
            fail_at: fail_at.transpose()?,
        })
    }
}

/// The body of a call: one JSON object, said to be JSON (document, section 4).
pub(crate) fn object(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, Problem> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mime = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    if !mime.trim().eq_ignore_ascii_case("application/json") {
        return Err(refuse("Content-Type", "application/json"));
    }
    serde_json::from_slice(body).map_err(|_| refuse("the body", "one JSON object"))
}

pub(crate) fn refuse(field: &'static str, expected: &'static str) -> Problem {
    Problem::InvalidRequest { field, expected }
}

/// `null` is as good as nothing.
fn present<'a>(body: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    body.get(field).filter(|value| !value.is_null())
}

pub(crate) fn text(
    body: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<Option<String>, Problem> {
    let text = present(body, field).map(|value| value.as_str().ok_or(refuse(field, expected)));
    Ok(text.transpose()?.map(str::to_owned))
}

pub(crate) fn required(
    body: &Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<String, Problem> {
    let text = text(body, field, expected)?;
    text.filter(|text| !text.trim().is_empty()).ok_or(refuse(field, expected))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> Result<Order, Problem> {
        Order::read(body.as_object().unwrap())
    }

    #[test]
    fn an_order_needs_a_topic_and_nothing_else() {
        let order = read(&json!({"topic": "Shoes", "tone": "friendly"})).unwrap();
        assert_eq!((order.topic.as_str(), order.length), ("Shoes", Length::Drawn));
        assert_eq!((order.webhook, order.fail_at, order.wants_analytics), (None, None, false));
    }

    #[test]
    fn what_cannot_be_right_is_refused_by_name() {
        for (body, field) in [
            (json!({}), "topic"),
            (json!({"topic": 7}), "topic"),
            (json!({"topic": " "}), "topic"),
            (json!({"topic": "a", "webhook_url": "/hook"}), "webhook_url"),
            (json!({"topic": "a", "webhook_url": "ftp://a.test"}), "webhook_url"),
            (json!({"topic": "a", "webhook_url": 7}), "webhook_url"),
            (json!({"topic": "a", "words": 499}), "words"),
            (json!({"topic": "a", "bytes": 0}), "bytes"),
            (json!({"topic": "a", "bytes": -1}), "bytes"),
            (json!({"topic": "a", "analytics": "yes"}), "analytics"),
            (json!({"topic": "a", "fail_at": "typing"}), "fail_at"),
        ] {
            match read(&body) {
                Err(Problem::InvalidRequest { field: named, .. }) => assert_eq!(named, field),
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_body_is_one_json_object_and_says_so() {
        let mut headers = HeaderMap::new();
        assert_eq!(object(&headers, b"{}"), Err(refuse("Content-Type", "application/json")));
        headers.insert(header::CONTENT_TYPE, "Application/JSON; charset=utf-8".parse().unwrap());
        assert_eq!(object(&headers, b"{}"), Ok(Map::new()));
        for body in ["", "{", "[]", "{} x", "\"a\""] {
            assert_eq!(
                object(&headers, body.as_bytes()),
                Err(refuse("the body", "one JSON object"))
            );
        }
    }
}
