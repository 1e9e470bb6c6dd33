use bytes::Bytes;
use serde::{Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::{
    Client, Error, PublishTarget,
    error::{Kind, Malformed},
};

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
        any_json(self.post("/v1/config/publish-targets", &Request { brand_id, targets }).await?)
    }

    /// Configures the brand, without which no article can be ordered (service document, section 4:
    /// `POST /v1/config/brand`, whose fields are not documented). The response is any JSON, or empty.
    ///
    /// # Errors
    ///
    /// The errors of the service, no connection, or an [unknown outcome](Error::is_outcome_unknown).
    pub async fn configure_brand(&self, brand: &Map<String, Value>) -> Result<Bytes, Error> {
        any_json(self.post("/v1/config/brand", brand).await?)
    }
}

fn any_json(body: Bytes) -> Result<Bytes, Error> {
    if body.trim_ascii().is_empty() {
        return Ok(Bytes::new());
    }
    match serde_json::from_slice(&body) {
        Ok(IgnoredAny) => Ok(body),
        // The status was a success, so the call was carried out.
        Err(_) => {
            Err(Error::new(Kind::OutcomeUnknown(Error::new(Kind::Malformed(Malformed::Json)))))
        }
    }
}
