use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;

use crate::{
    Client, Error,
    error::{Kind, ServiceError},
    retry::retry,
};

impl Client {
    /// A call that changes something. It is repeated only if the service cannot have carried it out.
    pub(super) async fn post(&self, path: &str, request: &impl Serialize) -> Result<Bytes, Error> {
        let url = self.0.base.call(path, None)?;
        let request = serde_json::to_vec(request).expect("its keys are strings");
        let request = Bytes::from(request);
        let call = |left| self.send(Method::POST, url.clone(), Some(request.clone()), left);
        let may_repeat = |error: &Error| error.is_transient() && was_not_carried_out(error);
        let response = retry(self.0.pauses, self.0.deadline, call, may_repeat).await;
        response.map_err(|error| {
            if was_not_carried_out(&error) {
                error
            } else {
                Error::new(Kind::OutcomeUnknown(error))
            }
        })
    }
}

/// Nothing was sent, or the service itself refused. A 408 or 5xx may come from a proxy, which does not know what the
/// service did. A 303 is a usual response to a form that was carried out.
fn was_not_carried_out(error: &Error) -> bool {
    match error.kind() {
        Kind::Connect(_) => true,
        Kind::Redirect { status } => *status != 303,
        Kind::Service(_) if error.is_generation_failed() => true,
        Kind::Service(ServiceError { status, .. }) | Kind::Status { status, .. } => {
            *status < 500 && *status != 408
        }
        _ => false,
    }
}
