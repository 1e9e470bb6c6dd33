//! Which entries a command is for, and how many of them are shown.

use std::time::{Duration, SystemTime};

use article_webhook::JobId;
use article_webhook_inbox::{Entry, Error, Filter, Inbox, State};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::Value;

use crate::{
    failure::Failure,
    output::{Output, Table},
    store::Place,
    text::{command, moment},
};

/// Which entries are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArguments {
    /// Only entries in this state
    #[arg(long, value_parser = states())]
    state: Option<State>,
    /// Only entries of this event
    #[arg(long)]
    event: Option<String>,
    /// Only entries whose first body was delivered to this target
    #[arg(long)]
    target: Option<String>,
    /// Only entries that were received longer ago than this, such as 90s, 2h or 7d
    #[arg(long, value_name = "AGE", value_parser = moment::age)]
    older_than: Option<Duration>,
    /// Only entries that were received within this time, such as 90s, 2h or 7d
    #[arg(long, value_name = "AGE", value_parser = moment::age)]
    since: Option<Duration>,
    /// Only entries with a cause of this group, as `inbox causes` prints it
    #[arg(long, value_name = "GROUP")]
    cause: Option<String>,
    /// Only entries with this text in their job id, title or cause, ignoring case
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
}

impl FilterArguments {
    pub(super) fn is_empty(&self) -> bool {
        let Self { state, event, target, older_than, since, cause, search } = self;
        let is_any = [event, target, cause, search].iter().any(|filter| filter.is_some());
        !is_any && state.is_none() && older_than.is_none() && since.is_none()
    }

    pub(super) fn state(&self) -> Option<State> {
        self.state
    }

    pub(super) fn filter(&self, job_id: Option<JobId>) -> Filter {
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
pub(super) fn before_now(age: Duration) -> SystemTime {
    SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Which entries are listed or exported.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct ChoiceArguments {
    #[command(flatten)]
    filter: FilterArguments,
    /// Only entries of this job
    #[arg(long, value_name = "JOB")]
    job: Option<JobId>,
}

impl ChoiceArguments {
    /// All entries are meant.
    pub(super) fn is_empty(&self) -> bool {
        self.job.is_none() && self.filter.is_empty()
    }

    pub(super) fn names_a_job(&self) -> bool {
        self.job.is_some()
    }

    pub(super) fn filter(&self) -> Filter {
        self.filter.filter(self.job.clone())
    }
}

fn states() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(State::ALL.iter().map(|state| state.as_str()))
        .map(|name| State::from_name(&name).expect("a possible value is the name of a state"))
}

/// How many entries are read at once, and changed in one transaction, so that a receiver does not wait long for it.
const CHANGED_AT_ONCE: u32 = 250;

/// The entries that pass one of the filters: the first of them, or all.
pub(super) struct Selection {
    pub(super) filters: Vec<Filter>,
    pub(super) at_most: usize,
}

impl Selection {
    /// Calls `each` with each page.
    pub(super) async fn pages<F: AsyncFnMut(Vec<Entry>) -> Result<(), E>, E: From<Error>>(
        &self,
        inbox: &Inbox,
        mut each: F,
    ) -> Result<(), E> {
        let mut left = self.at_most;
        for filter in &self.filters {
            let mut filter = Filter { limit: CHANGED_AT_ONCE, ..filter.clone() };
            loop {
                let mut page = inbox.list(filter.clone()).await?;
                page.items.truncate(left);
                left -= page.items.len();
                if !page.items.is_empty() {
                    each(page.items).await?;
                }
                if left == 0 {
                    return Ok(());
                }
                // Entries are listed by ascending id, so none is visited twice.
                let Some(next) = page.next else { break };
                filter.after = next;
            }
        }
        Ok(())
    }

    /// Whether an entry passes one of the filters.
    pub(super) fn accepts(&self, entry: &Entry) -> bool {
        self.filters.iter().any(|filter| filter.accepts(entry))
    }
}

/// How many are read at once when all are listed.
const LISTED_AT_ONCE: u32 = 500;

/// How much of a list is shown.
#[derive(Debug, Args)]
pub(super) struct PagingArguments {
    /// The maximum number to list
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// List those after this id, which is printed below the previous page
    #[arg(long, value_name = "ID", default_value_t = 0)]
    after: i64,
    /// List all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// What fixes a selection of nothing.
pub(super) fn what_there_is(place: &Place) -> String {
    format!("see what there is: {}", command::status(place.shown()))
}

/// What a list is of.
pub(super) struct Kind<T> {
    /// The type of a line of JSON.
    pub(super) name: &'static str,
    pub(super) json: fn(&T) -> Value,
    pub(super) table: fn(&[T]) -> Table,
}

impl PagingArguments {
    /// Shows one page, or all. `read` gets the id after which a page begins and its length, and returns the page and the id
    /// after which the next one begins. Returns whether there was any.
    pub(super) async fn show<T>(
        &self,
        kind: &Kind<T>,
        output: &Output,
        read: impl AsyncFn(i64, u32) -> Result<(Vec<T>, Option<i64>), Error>,
    ) -> Result<bool, Failure> {
        let (mut after, limit) = (self.after, if self.all { LISTED_AT_ONCE } else { self.limit });
        let mut is_empty = true;
        loop {
            let (items, next) = read(after, limit).await?;
            if items.is_empty() {
                break;
            }
            is_empty = false;
            if output.is_json() {
                for item in &items {
                    output.json(kind.name, &(kind.json)(item))?;
                }
            } else {
                (kind.table)(&items).write(output)?;
            }
            let Some(next) = next else { break };
            if !self.all {
                output.note(&format!("\nThere are more: --after {next}, or --all"));
                break;
            }
            after = next;
        }
        Ok(!is_empty)
    }
}
