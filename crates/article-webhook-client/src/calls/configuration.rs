use bytes::Bytes;
use serde::{Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

use super::post::{success, unreadable};
use crate::{CallOutcome, Client, Error, PublishTarget, RawResponse, response::Secrets};

impl Client {
    /// Configures where the articles of a brand are delivered (service document, section 4:
    /// `POST /v1/config/publish-targets`). The response is any JSON, or empty.
    ///
    /// # Errors
    ///
    /// The errors of the service, no connection, or an [unknown outcome](Error::is_outcome_unknown).
    pub async fn set_publish_targets(
        &self,
        brand_id: &str,
        targets: &[PublishTarget],
    ) -> Result<Bytes, Error> {
        #[derive(Serialize)]
        struct Request<'a> {
            brand_id: &'a str,
            targets: &'a [PublishTarget],
        }
        let request = Request { brand_id, targets };
        let secrets = targets
            .iter()
            .fold(Secrets::of(&self.0.key), |secrets, target| target.add_secrets(secrets));
        self.post("/v1/config/publish-targets", &request, &secrets, any_json).await
    }

    /// Configures the brand, without which no article can be ordered (service document, section 4:
    /// `POST /v1/config/brand`, whose fields are not documented). The response is any JSON, or empty.
    ///
    /// # Errors
    ///
    /// The errors of the service, no connection, or an [unknown outcome](Error::is_outcome_unknown).
    pub async fn configure_brand(&self, brand: &Map<String, Value>) -> Result<Bytes, Error> {
        self.post("/v1/config/brand", brand, &Secrets::of(&self.0.key), any_json).await
    }
}

fn any_json(secrets: &Secrets<'_>, sent: Result<RawResponse, Error>) -> Result<Bytes, Error> {
    let raw = success(secrets, sent)?;
    if raw.body.trim_ascii().is_empty() {
        return Ok(Bytes::new());
    }
    match serde_json::from_slice(&raw.body) {
        Ok(IgnoredAny) => Ok(raw.body),
        Err(_) => Err(unreadable(raw, CallOutcome::NotJson)),
    }
}
