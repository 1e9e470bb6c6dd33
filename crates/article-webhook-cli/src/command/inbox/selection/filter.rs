use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{Filter, State};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

use crate::text::moment;

/// Which entries are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArguments {
    /// Only entries in this state
    #[arg(long, value_parser = states())]
    state: Option<State>,
    /// Only entries of this event
    #[arg(long)]
    event: Option<String>,
    /// Only entries whose first body was delivered to this target
    #[arg(long)]
    target: Option<String>,
    /// Only entries that were received longer ago, such as 90s, 2h or 7d
    #[arg(long, value_name = "AGE", value_parser = moment::age)]
    older_than: Option<Duration>,
    /// Only entries that were received within this time, such as 90s, 2h or 7d
    #[arg(long, value_name = "AGE", value_parser = moment::age)]
    since: Option<Duration>,
    /// Only entries with a cause of this group, as `inbox causes` prints it
    #[arg(long, value_name = "GROUP")]
    cause: Option<String>,
    /// Only entries with this text in their job id, title or cause, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
}

impl FilterArguments {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { state, event, target, older_than, since, cause, search } = self;
        let is_any = [event, target, cause, search].iter().any(|filter| filter.is_some());
        !is_any && state.is_none() && older_than.is_none() && since.is_none()
    }

    pub(crate) fn state(&self) -> Option<State> {
        self.state
    }

    pub(crate) fn filter(&self, job_id: Option<JobId>) -> Filter {
        Filter {
            state: self.state,
            event: self.event.as_deref().map(Into::into),
            job_id,
            target: self.target.as_deref().map(Into::into),
            received_before: self.older_than.map(before_now),
            received_since: self.since.map(before_now),
            cause: self.cause.as_deref().map(Into::into),
            search: self.search.as_deref().map(Into::into),
            ..Filter::default()
        }
    }
}

/// An age over the time since 1970 means that.
pub(crate) fn before_now(age: Duration) -> SystemTime {
    SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Which entries are listed or exported.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct ChoiceArguments {
    #[command(flatten)]
    filter: FilterArguments,
    /// Only entries of this job
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
}

impl ChoiceArguments {
    /// All entries are meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.job.is_none() && self.filter.is_empty()
    }

    pub(crate) fn names_a_job(&self) -> bool {
        self.job.is_some()
    }

    pub(crate) fn filter(&self) -> Filter {
        self.filter.filter(self.job.clone())
    }
}

fn states() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(State::ALL.map(State::as_str))
        .map(|name| State::from_name(&name).expect("a possible value is the name of a state"))
}
