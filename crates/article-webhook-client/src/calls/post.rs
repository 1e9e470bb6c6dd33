use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;

use crate::{
    Client, Error,
    response::{CallOutcome, Length, MAX_SHORT_BODY, RawResponse, Response, Secrets},
    retry::retry,
};

/// Reads the response to a call that changes something, or why there is none.
type Read<T> = fn(&Secrets<'_>, Result<RawResponse, Error>) -> Result<T, Error>;

impl Client {
    /// A call that changes something. It is repeated only if the service cannot have carried it out: the error of any
    /// other is not transient.
    pub(super) async fn post<T>(
        &self,
        path: &str,
        request: &impl Serialize,
        secrets: &Secrets<'_>,
        read: Read<T>,
    ) -> Result<T, Error> {
        let body = json(request);
        let call = |left| self.attempt(path, body.clone(), left, secrets, read);
        retry(self.0.pauses, self.0.deadline, call, Error::is_transient).await
    }

    /// The same, one attempt.
    pub(super) async fn post_once<T>(
        &self,
        path: &str,
        request: &impl Serialize,
        secrets: &Secrets<'_>,
        read: Read<T>,
    ) -> Result<T, Error> {
        self.attempt(path, json(request), Duration::MAX, secrets, read).await
    }

    async fn attempt<T>(
        &self,
        path: &str,
        body: Bytes,
        left: Duration,
        secrets: &Secrets<'_>,
        read: Read<T>,
    ) -> Result<T, Error> {
        let url = self.0.base.call(path, None)?;
        read(secrets, self.send(Method::POST, url, Some(body), left).await)
    }
}

fn json(request: &impl Serialize) -> Bytes {
    serde_json::to_vec(request).expect("its keys are strings").into()
}

/// The response to a call that was carried out.
pub(super) fn success(
    secrets: &Secrets<'_>,
    sent: Result<RawResponse, Error>,
) -> Result<RawResponse, Error> {
    let raw = sent.map_err(Error::of_change)?;
    if !raw.is_success() {
        return Err(Error::of_response(Response::refusal(secrets, raw)).of_change());
    }
    match raw.length {
        Length::OverLimit(limit) => Err(unreadable(raw, CallOutcome::TooLarge { limit })),
        Length::Whole if raw.body.len() > MAX_SHORT_BODY => {
            Err(unreadable(raw, CallOutcome::TooLarge { limit: MAX_SHORT_BODY }))
        }
        Length::Whole => Ok(raw),
    }
}

/// The status was a success, so the call was carried out, but the response does not say with which result.
pub(super) fn unreadable(raw: RawResponse, outcome: CallOutcome) -> Error {
    Error::of_response(Response::new(raw, outcome)).of_change()
}
