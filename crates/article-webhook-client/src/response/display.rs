use std::fmt;

use super::{outcome::CallOutcome, response::Response};

/// Texts of the service are escaped, so that they cannot control a terminal.
impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status.as_u16();
        match &self.outcome {
            CallOutcome::Complete(_) => f.write_str("the job is complete"),
            CallOutcome::Unfinished { status: Some(status) } => {
                write!(f, "the job is not complete, its status is {status:?}")
            }
            CallOutcome::Unfinished { status: None } if !self.names_the_job() => {
                f.write_str("the answer says nothing about the job")
            }
            CallOutcome::Unfinished { status: None } => f.write_str("the job is not complete"),
            CallOutcome::Draft { status: Some(status) } => {
                write!(f, "the job has an article, which may be a draft: its status is {status:?}")
            }
            CallOutcome::Draft { status: None } => {
                f.write_str("the job has an article, which may be a draft: it has no status")
            }
            CallOutcome::FailedState { state } => {
                write!(f, "the service says that the job has failed: {state:?}")
            }
            CallOutcome::OtherJob => f.write_str("the answer is about another job"),
            CallOutcome::InvalidJobId => f.write_str("the answer has a job_id of the wrong shape"),
            CallOutcome::Undecodable(error) => {
                write!(f, "the answer is no article result: {error}")
            }
            CallOutcome::Page => f.write_str(
                "the answer is a page, not JSON: is the base URL right, or does a proxy answer?",
            ),
            CallOutcome::NotJson => f.write_str("the answer is not one JSON object"),
            CallOutcome::NoJobId => f.write_str("the answer has no valid job_id"),
            CallOutcome::TooLarge { limit } => write!(
                f,
                "the answer is over the limit of {limit} bytes: is the base URL right, or ClientBuilder::body_limit too low?"
            ),
            CallOutcome::Redirect => write!(
                f,
                "the service answered {status}, a redirect, which is not followed: is the base URL right?"
            ),
            _ => self.fmt_refusal(f),
        }
    }
}

impl Response {
    fn fmt_refusal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status.as_u16();
        if let Some(reported) = &self.reported {
            return write!(f, "{} ({status}): {}", reported.code, reported.message.escape_debug());
        }
        let hint = match self.outcome {
            CallOutcome::NotFound => " (is the base URL right?)",
            CallOutcome::UnknownStatus => " (a status that is not documented)",
            _ => "",
        };
        if self.start.is_empty() {
            write!(f, "the service answered {status} without a body{hint}")
        } else {
            write!(
                f,
                "the service answered {status} and no documented error{hint}: {:?}",
                self.start
            )
        }
    }
}
