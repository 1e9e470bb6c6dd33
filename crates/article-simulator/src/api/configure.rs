use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::service::{
    account::Account,
    answer::json_response,
    brand::{InvalidTarget, Target},
    order::{refuse, required, text},
    problem::Problem,
};

/// The brand of whoever names none.
const DEFAULT_BRAND: &str = "brand_default";

/// `POST /v1/config/brand`. The document shows no field of it: all of them may be left out.
pub(crate) fn brand(
    account: &mut Account,
    body: &Map<String, Value>,
) -> Result<Response<Bytes>, Problem> {
    let id = text(body, "brand_id", "a string")?;
    let ga4 = text(body, "ga4_property_id", "a string")?;
    let id = id.as_deref().unwrap_or(DEFAULT_BRAND);
    account.configure(id).has_ga4 |= ga4.is_some();
    let body = json!({ "brand_id": id, "status": "configured" });
    Ok(json_response(StatusCode::OK, &body))
}

/// `POST /v1/config/publish-targets`. What was configured before is replaced.
pub(crate) fn publish_targets(
    account: &mut Account,
    body: &Map<String, Value>,
) -> Result<Response<Bytes>, Problem> {
    let id = required(body, "brand_id", "a string that is not blank")?;
    let Some(Value::Array(targets)) = body.get("targets") else {
        return Err(refuse("targets", "an array of publish targets"));
    };
    let targets: Vec<_> = targets.iter().map(target).collect::<Result<_, _>>()?;
    let body = json!({ "brand_id": id, "targets": targets.len() });
    account.brand(&id).targets = targets;
    Ok(json_response(StatusCode::OK, &body))
}

fn target(target: &Value) -> Result<Arc<Target>, Problem> {
    let target = target.as_object().ok_or(refuse("targets", "an array of publish targets"))?;
    if target.get("type") != Some(&"webhook".into()) {
        return Err(refuse("targets[].type", "`webhook`"));
    }
    let text = |field| target.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("name").trim().is_empty() {
        return Err(refuse("targets[].name", "a string that is not blank"));
    }
    let target = Target::publish(text("url"), text("auth_token"));
    target.map(Arc::new).map_err(|invalid| match invalid {
        InvalidTarget::Url => refuse("targets[].url", "an http or https URL"),
        InvalidTarget::Token => {
            refuse("targets[].auth_token", "a value of the Authorization header")
        }
    })
}
