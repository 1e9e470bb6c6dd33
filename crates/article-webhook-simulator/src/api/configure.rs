use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::fields::{invalid, required, text};
use crate::{
    InvalidTarget, Target,
    accounts::Account,
    response::{ApiError, json_response},
};

/// The brand of a call without `brand_id`.
const DEFAULT_BRAND: &str = "brand_default";

/// `POST /v1/config/brand`. The document defines no fields, so all are optional.
pub(super) fn brand(
    account: &mut Account,
    body: &Map<String, Value>,
) -> Result<Response<Bytes>, ApiError> {
    let id = text(body, "brand_id", "a string")?;
    let ga4 = text(body, "ga4_property_id", "a string")?;
    let id = id.as_deref().unwrap_or(DEFAULT_BRAND);
    account.configure(id).has_ga4 |= ga4.is_some();
    let body = json!({ "brand_id": id, "status": "configured" });
    Ok(json_response(StatusCode::OK, &body))
}

/// `POST /v1/config/publish-targets`. The earlier targets of the brand are replaced.
pub(super) fn publish_targets(
    account: &mut Account,
    body: &Map<String, Value>,
) -> Result<Response<Bytes>, ApiError> {
    let id = required(body, "brand_id", "a string that is not blank")?;
    let Some(Value::Array(targets)) = body.get("targets") else {
        return Err(invalid("targets", "an array of publish targets"));
    };
    let targets: Vec<_> = targets.iter().map(target).collect::<Result<_, _>>()?;
    let body = json!({ "brand_id": id, "targets": targets.len() });
    account.brand(&id).targets = targets;
    Ok(json_response(StatusCode::OK, &body))
}

fn target(target: &Value) -> Result<Arc<Target>, ApiError> {
    let target = target.as_object().ok_or(invalid("targets", "an array of publish targets"))?;
    if target.get("type") != Some(&"webhook".into()) {
        return Err(invalid("targets[].type", "`webhook`"));
    }
    let text = |field| target.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("name").trim().is_empty() {
        return Err(invalid("targets[].name", "a string that is not blank"));
    }
    let target = Target::publish(text("url"), text("auth_token"));
    target.map(Arc::new).map_err(|error| match error {
        InvalidTarget::Url => invalid("targets[].url", "an http or https URL"),
        InvalidTarget::Token => {
            invalid("targets[].auth_token", "a value of the Authorization header")
        }
    })
}
