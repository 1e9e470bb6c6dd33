use std::time::Duration;

use article_webhook::{AuthToken, Receiver, fixture::DeliveryRequest};
use article_webhook_inbox::EntryKey;
use clap::Args;

use crate::failure::{Failure, SEE_HELP};

const EVENT: &str = "X-Service-Event";
const JOB_ID: &str = "X-Service-Job-Id";

/// The names of the headers with the event and the job id, of what is received and of what is passed on.
#[derive(Debug, Clone, Args)]
pub(super) struct HeaderArguments {
    /// The header with the event
    #[arg(long, value_name = "NAME", default_value = EVENT)]
    event_header: String,
    /// The header with the job id
    #[arg(long, value_name = "NAME", default_value = JOB_ID)]
    job_id_header: String,
}

impl HeaderArguments {
    /// A receiver that reads them, and answers within this time.
    pub(super) fn receiver(
        &self,
        token: AuthToken,
        deadline: Duration,
    ) -> Result<Receiver, Failure> {
        let receiver = Receiver::builder(token)
            .answer_deadline(deadline)
            .event_header(&self.event_header)
            .job_id_header(&self.job_id_header);
        receiver.build().map_err(|error| Failure::of_setting(&error.to_string(), SEE_HELP))
    }

    /// A delivery that has them.
    pub(super) fn of(&self, request: DeliveryRequest, key: &EntryKey) -> DeliveryRequest {
        request
            .without_header(EVENT)
            .without_header(JOB_ID)
            .header(&self.event_header, key.event.as_str())
            .header(&self.job_id_header, key.job_id.as_str())
    }
}
