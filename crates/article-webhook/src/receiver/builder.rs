use std::{fmt, time::Duration};

use http::HeaderName;

use super::{
    BuildError, Receiver,
    body_limit::BodyLimit,
    settings::{Settings, UnknownEvents},
};
use crate::auth::Targets;

/// Settings of a [`Receiver`], all optional.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
/// let receiver = Receiver::builder(token.clone())
///     .event_header("X-Acme-Event")
///     .job_id_header("X-Acme-Job-Id")
///     .strict()
///     .build()?;
///
/// let invalid = Receiver::builder(token).event_header("X Acme Event").build();
/// assert_eq!(
///     invalid.unwrap_err().to_string(),
///     "`X Acme Event` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is built before `build`"]
pub struct ReceiverBuilder {
    targets: Targets,
    settings: Settings,
    invalid: Option<BuildError>,
}

impl ReceiverBuilder {
    pub(crate) fn new(targets: Targets) -> Self {
        Self { targets, settings: Settings::default(), invalid: None }
    }

    /// The maximum length of a body in bytes; 8 MiB by default. A longer body is answered with 413, and
    /// no retry can deliver it: choose a generous limit.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = BodyLimit(bytes);
        self
    }

    /// The maximum number of bytes of unfinished bodies in memory, over all requests to the receiver and
    /// its clones; 64 MiB by default, eight bodies of the default limit. When it is used up, a delivery
    /// whose body needs more is answered with 503, and the service retries.
    ///
    /// Bytes count from their arrival until the body is complete or given up. A declared length does not
    /// count, and neither does a [`Delivery`](crate::Delivery). The framework's buffers and the spare
    /// capacity of growing bodies need memory as well: a thousand senders that filled a budget of 64 MiB took
    /// 130 to 280 MiB.
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.settings.body_budget = bytes;
        self
    }

    /// How long a body may take to arrive; 30 seconds by default. After that the answer is 408, and the
    /// service retries. The time begins when the adapter first has to wait for the body.
    pub fn body_deadline(mut self, deadline: Duration) -> Self {
        self.settings.body_deadline = deadline;
        self
    }

    /// The name of the header with the event; `X-Service-Event` by default.
    pub fn event_header(mut self, name: &str) -> Self {
        match header_name(name) {
            Ok(name) => self.settings.event_header = name,
            Err(error) => self.invalid = Some(error),
        }
        self
    }

    /// The name of the header with the job id; `X-Service-Job-Id` by default.
    pub fn job_id_header(mut self, name: &str) -> Self {
        match header_name(name) {
            Ok(name) => self.settings.job_id_header = name,
            Err(error) => self.invalid = Some(error),
        }
        self
    }

    /// Refuses a delivery that lacks one of the service's headers (400), even if its body is complete.
    /// By default such a delivery is accepted, because some proxies strip `X-` headers.
    pub fn strict(mut self) -> Self {
        self.settings.strict = true;
        self
    }

    /// Answers an unknown event with 422 instead of 200 where the application uses an extractor. A retry will not
    /// succeed, but the service's log shows that the event was refused.
    pub fn refuse_unknown_events(mut self) -> Self {
        self.settings.unknown_events = UnknownEvents::Refuse;
        self
    }

    /// How long a sink, or a handler under the adapter's layer, may take before the answer is 503; 5 seconds by
    /// default. Its task continues after that.
    pub fn answer_deadline(mut self, deadline: Duration) -> Self {
        self.settings.answer_deadline = deadline;
        self
    }

    /// How long a handler under the adapter's layer may run before a retry runs it again; 120 seconds by default.
    /// Until then a retry of the same delivery waits for the handler that runs already. The four attempts of the
    /// service end after 370 seconds, so without a limit one handler that never ends would use up all of them.
    pub fn join_limit(mut self, limit: Duration) -> Self {
        self.settings.join_limit = limit;
        self
    }

    /// How long the success of a handler under the adapter's layer is remembered; 15 minutes by default. Until then
    /// the same delivery is answered with 200 and not handled again: its sender may not have seen the first answer,
    /// and sends its last retry 370 seconds after the first attempt. With zero, each delivery is handled.
    pub fn remember_for(mut self, time: Duration) -> Self {
        self.settings.remember_for = time;
        self
    }

    /// Builds the receiver.
    ///
    /// # Errors
    ///
    /// A [`BuildError`] for an invalid header name, for a header that would have two meanings, for a body
    /// limit of 0 bytes, for a body budget below the body limit, and for a deadline of 0 seconds.
    pub fn build(self) -> Result<Receiver, BuildError> {
        if let Some(invalid) = self.invalid {
            return Err(invalid);
        }
        let Settings {
            body_limit: BodyLimit(limit),
            body_budget: budget,
            body_deadline,
            event_header,
            job_id_header,
            answer_deadline,
            ..
        } = &self.settings;
        if *limit == 0 {
            return Err(BuildError::ZeroBodyLimit);
        }
        if budget < limit {
            return Err(BuildError::BodyBudget { budget: *budget, limit: *limit });
        }
        if body_deadline.is_zero() {
            return Err(BuildError::ZeroBodyDeadline);
        }
        if answer_deadline.is_zero() {
            return Err(BuildError::ZeroAnswerDeadline);
        }
        let taken = [
            http::header::AUTHORIZATION,
            http::header::CONNECTION,
            http::header::CONTENT_ENCODING,
            http::header::CONTENT_LENGTH,
            http::header::CONTENT_TYPE,
            http::header::EXPECT,
            http::header::HOST,
            http::header::TRANSFER_ENCODING,
        ];
        for name in [event_header, job_id_header] {
            if taken.contains(name) {
                return Err(BuildError::HeaderTaken { name: name.to_string() });
            }
        }
        if event_header == job_id_header {
            return Err(BuildError::HeaderTaken { name: event_header.to_string() });
        }
        Ok(Receiver::from_parts(self.targets, self.settings))
    }
}

impl fmt::Debug for ReceiverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverBuilder").field("targets", &self.targets).finish_non_exhaustive()
    }
}

fn header_name(name: &str) -> Result<HeaderName, BuildError> {
    name.parse().map_err(|_| BuildError::HeaderName { name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthToken;

    fn refused(change: impl FnOnce(ReceiverBuilder) -> ReceiverBuilder) -> String {
        let builder = Receiver::builder(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap());
        change(builder).build().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_8_mib_30_seconds_and_5_seconds_and_all_can_be_set() {
        let token = || AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap();
        let limits = |receiver: Receiver| {
            let deadlines = [receiver.body_deadline(), receiver.answer_deadline()];
            (receiver.body_limit(), deadlines.map(|deadline| deadline.as_secs()))
        };
        assert_eq!(limits(Receiver::new(token())), (8_388_608, [30, 5]));
        let builder = Receiver::builder(token())
            .body_limit(1)
            .body_deadline(Duration::from_secs(3))
            .answer_deadline(Duration::from_secs(2));
        assert_eq!(limits(builder.build().unwrap()), (1, [3, 2]));
    }

    #[test]
    fn each_wrong_setting_is_refused_with_its_own_message_and_what_that_says_is_accepted() {
        let builder = || Receiver::builder(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap());
        let large = || builder().body_limit((64 << 20) + 1);
        let small = || builder().body_budget((8 << 20) - 1);
        let no_name = "is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`";
        let too_large = "a body budget of 67108864 bytes cannot hold one body of the limit, 67108865: raise body_budget, or lower body_limit";
        for (wrong, message, right) in [
            (
                builder().event_header("a b"),
                &*format!("`a b` {no_name}"),
                builder().event_header("X-Event"),
            ),
            (
                builder().job_id_header(""),
                &*format!("`` {no_name}"),
                builder().job_id_header("X-Job"),
            ),
            (
                builder().body_limit(0),
                "a body limit of 0 bytes refuses every delivery: the default is 8388608",
                builder().body_limit(8_388_608),
            ),
            (
                small(),
                "a body budget of 8388607 bytes cannot hold one body of the limit, 8388608: raise body_budget, or lower body_limit",
                small().body_budget(8 << 20),
            ),
            (large(), too_large, large().body_budget((64 << 20) + 1)),
            (large(), too_large, large().body_limit(64 << 20)),
            (
                builder().body_deadline(Duration::ZERO),
                "a body deadline of 0 seconds refuses every body that has to be waited for: the default is 30",
                builder().body_deadline(Duration::from_secs(30)),
            ),
            (
                builder().answer_deadline(Duration::ZERO),
                "an answer deadline of 0 seconds refuses every delivery: the default is 5",
                builder().answer_deadline(Duration::from_secs(5)),
            ),
        ] {
            assert_eq!(wrong.build().unwrap_err().to_string(), message);
            right.build().unwrap();
        }
    }

    #[test]
    fn a_header_has_one_meaning() {
        let taken = |name: &str| {
            format!(
                "the header `{name}` has another meaning already: \
                 give the event and the job id a header of their own each"
            )
        };
        for name in ["authorization", "content-type", "content-length", "expect", "host"] {
            assert_eq!(refused(|builder| builder.event_header(name)), taken(name));
            assert_eq!(refused(|builder| builder.job_id_header(name)), taken(name));
        }
        let twice = refused(|builder| builder.event_header("X-Both").job_id_header("X-Both"));
        assert_eq!(twice, taken("x-both"));
        let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap();
        let one_each = Receiver::builder(token).event_header("X-A").job_id_header("X-B");
        one_each.build().unwrap();
    }
}
