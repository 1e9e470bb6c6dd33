use std::fmt;

use super::{outcome::Outcome, response::Response};

/// Texts of the service are escaped, so that they cannot control a terminal.
impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status;
        match &self.outcome {
            Outcome::Complete(_) => f.write_str("the job is complete"),
            Outcome::Unfinished { status: Some(status) } => {
                write!(f, "the job is not complete, its status is {status:?}")
            }
            Outcome::Unfinished { status: None } if !self.names_the_job() => {
                f.write_str("the answer says nothing about the job")
            }
            Outcome::Unfinished { status: None } => f.write_str("the job is not complete"),
            Outcome::OtherJob => f.write_str("the answer is about another job"),
            Outcome::InvalidJobId => f.write_str("the answer has a job_id of the wrong shape"),
            Outcome::Undecodable(error) => write!(f, "the answer is no article result: {error}"),
            Outcome::Page => f.write_str(
                "the answer is a page, not JSON: is the base URL right, or does a proxy answer?",
            ),
            Outcome::NotJson => f.write_str("the answer is not one JSON object"),
            Outcome::NoJobId => f.write_str("the answer has no valid job_id"),
            Outcome::TooLarge { limit } => write!(
                f,
                "the answer is over the limit of {limit} bytes: is the base URL right, or ClientBuilder::body_limit too low?"
            ),
            Outcome::Redirect => write!(
                f,
                "the service answered {status}, a redirect, which is not followed: is the base URL right?"
            ),
            _ => self.fmt_refusal(f),
        }
    }
}

impl Response {
    fn fmt_refusal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status;
        if let Some(reported) = &self.reported {
            return write!(f, "{} ({status}): {}", reported.code, reported.message.escape_debug());
        }
        let hint = match self.outcome {
            Outcome::NotFound => " (is the base URL right?)",
            Outcome::UnknownStatus => " (a status that is not documented)",
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
